internal import LocalFiles

/// Decides how long the work in progress may go on after a signal asked the process to end. A pure
/// value: it neither waits nor handles signals.
struct EndingPlan: Sendable {
    /// What the process is doing, as far as a signal matters to it.
    enum Work: Sendable, CaseIterable {
        /// Work that can end at once without a loss.
        case nothing
        /// A change that can be made again: a request, a batch's items in flight, a vault's update.
        case change
        /// A batch's requests have ended; the vault notes what they brought.
        case noting
        /// A request with a single-use code, which may have left.
        case code
        /// Apple's keys are fetched; only this process has the tokens of the spent code.
        case keys
        /// Those tokens are stored in the vault.
        case storing
        /// One of those tokens is revoked.
        case revoking
        /// Those tokens are printed.
        case printing
    }

    private(set) var work = Work.nothing
    /// When the time that is left for the work began to run.
    private var start = Duration.zero
    private var isEnding = false

    /// The process begins `work`.
    mutating func begin(_ work: Work, at now: Duration) {
        self.work = work
        start = now
    }

    /// A signal arrived. A second one changes nothing: see ``Work/policy``.
    mutating func receiveSignal(at now: Duration) {
        guard !isEnding else { return }
        isEnding = true
        start = max(start, now)
    }

    /// How long the work may still take; nil while no signal has come.
    func remaining(at now: Duration) -> Duration? {
        isEnding ? max(start + work.limit - now, .zero) : nil
    }
}

extension EndingPlan.Work {
    /// How long it may go on after a signal.
    var limit: Duration {
        switch self {
        case .nothing, .keys, .printing: .zero
        case .noting, .storing: .seconds(2)
        case .change, .revoking: .seconds(5)
        case .code: .seconds(10)
        }
    }

    /// What signals do meanwhile.
    var policy: SignalPolicy {
        switch self {
        case .nothing: .end
        case .change, .noting: .recordFirst
        case .code, .keys, .storing, .revoking, .printing: .record
        }
    }

    /// After how many seconds the process ends, even if it hangs.
    var watchdog: UInt32 { UInt32(limit.components.seconds) + 5 }
}
