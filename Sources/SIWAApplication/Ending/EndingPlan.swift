import SIWASystem

/// Decides how long the work in progress may go on after a signal asked the process to end. A pure
/// value: it neither waits nor handles signals.
package struct EndingPlan: Sendable {
    /// The kinds of work that differ in how a signal ends them.
    package enum Work: Sendable, CaseIterable {
        /// Work that can end immediately without loss.
        case nothing
        /// A repeatable change: a request, a batch's items in flight, an update of a vault.
        case change
        /// Recording the results of a batch in the vault after its requests have ended.
        case noting
        /// A request with a single-use code, which may have been sent.
        case code
        /// Fetching Apple's keys, while only this process has the tokens of the spent code.
        case keys
        /// Storing these tokens in the vault.
        case storing
        /// Revoking one of these tokens.
        case revoking
        /// Printing these tokens.
        case printing
    }

    private(set) var work = Work.nothing
    /// When the time limit of the work started.
    private var start = Duration.zero
    /// When the signal arrived; nil while none has.
    private var signalTime: Duration?

    /// Notes that the process begins `work`.
    package mutating func begin(_ work: Work, at now: Duration) {
        self.work = work
        start = now
    }

    /// Notes the arrival of a signal. A second one changes nothing: see ``Work/policy``.
    mutating func receiveSignal(at now: Duration) {
        guard signalTime == nil else { return }
        signalTime = now
        start = max(start, now)
    }

    /// How long the work may still take; nil while no signal has come.
    package func remaining(at now: Duration) -> Duration? {
        signalTime == nil ? nil : max(start + work.limit - now, .zero)
    }

    /// How long the work may still take even if the command's time is over: tokens of a spent code
    /// are stored although fetching the keys took all of `--timeout`.
    package func reserved(at now: Duration) -> Duration {
        work == .storing ? max(start + work.limit - now, .zero) : .zero
    }

    /// The number of seconds from a signal, or from now if one has arrived, after which the process
    /// ends, even if it hangs.
    package func watchdog(at now: Duration) -> UInt32 {
        guard let signalTime, work.spentCode != .none else { return work.watchdog }
        let remaining = signalTime + .seconds(Int(work.watchdog)) - now
        return max(UInt32(clamping: remaining.components.seconds), Work.leastWatchdog)
    }
}

extension EndingPlan.Work {
    /// How long it may continue after a signal.
    var limit: Duration {
        switch self {
        case .nothing, .keys, .printing: .zero
        case .noting, .storing: .seconds(2)
        case .change, .revoking: .seconds(5)
        case .code: .seconds(10)
        }
    }

    /// The effect of signals during the work.
    var policy: SignalPolicy {
        switch self {
        case .nothing: .end
        case .change, .noting: .recordFirst
        case .code, .keys, .storing, .revoking, .printing: .record
        }
    }

    /// The state of a code during the work.
    var spentCode: SpentCode {
        switch self {
        case .nothing, .change, .noting: .none
        case .code: .sent
        case .keys, .revoking, .printing: .exchanged
        case .storing: .storing
        }
    }

    /// The number of seconds after a signal at which the process ends, even if it hangs. With a
    /// code, it includes waiting for Apple, storing and printing.
    var watchdog: UInt32 {
        let limit = spentCode == .none ? limit : Self.code.limit + Self.storing.limit
        return UInt32(limit.components.seconds) + Self.leastWatchdog
    }

    /// The least number of seconds for work before the process ends.
    static let leastWatchdog: UInt32 = 5
}
