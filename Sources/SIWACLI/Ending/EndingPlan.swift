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
    /// When the signal arrived; nil while none has.
    private var signalTime: Duration?

    /// The process begins `work`.
    mutating func begin(_ work: Work, at now: Duration) {
        self.work = work
        start = now
    }

    /// A signal arrived. A second one changes nothing: see ``Work/policy``.
    mutating func receiveSignal(at now: Duration) {
        guard signalTime == nil else { return }
        signalTime = now
        start = max(start, now)
    }

    /// How long the work may still take; nil while no signal has come.
    func remaining(at now: Duration) -> Duration? {
        signalTime == nil ? nil : max(start + work.limit - now, .zero)
    }

    /// After how many seconds from a signal, or from now if one has come, the process ends, even if
    /// it hangs.
    func watchdog(at now: Duration) -> UInt32 {
        guard let signalTime, work.spentCode != .none else { return work.watchdog }
        let remaining = signalTime + .seconds(Int(work.watchdog)) - now
        return max(UInt32(clamping: remaining.components.seconds), Work.leastWatchdog)
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

    /// What became of a code meanwhile.
    var spentCode: SpentCode {
        switch self {
        case .nothing, .change, .noting: .none
        case .code: .sent
        case .keys, .revoking, .printing: .exchanged
        case .storing: .storing
        }
    }

    /// After how many seconds from a signal the process ends, even if it hangs. With a code, it is
    /// one time for all that follows: waiting for Apple, storing and printing.
    var watchdog: UInt32 {
        let limit = spentCode == .none ? limit : Self.code.limit + Self.storing.limit
        return UInt32(limit.components.seconds) + Self.leastWatchdog
    }

    /// How many seconds work has at least before the process ends.
    static let leastWatchdog: UInt32 = 5
}
