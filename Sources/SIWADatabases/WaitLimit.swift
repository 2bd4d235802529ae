internal import SIWALifecycle

/// The end of one wait: after the timeout that applied when it began, or earlier if a signal has
/// shortened the timeout since.
struct WaitLimit: Sendable {
    private let timeout: StoreTimeout
    private let begin = ContinuousClock.now
    /// The duration of the whole wait.
    let allowed: Duration

    /// - Parameter longest: limits the wait further.
    init(_ timeout: StoreTimeout, longest: Duration? = nil) {
        self.timeout = timeout
        let remaining = max(timeout.remaining(), .zero)
        allowed = longest.map { min($0, remaining) } ?? remaining
    }

    /// The duration so far, for messages; a signal may have shortened the wait.
    var elapsed: Duration { min(allowed, ContinuousClock.now - begin) }

    /// Whether the limit is reached.
    var isOver: Bool { remaining <= .zero }

    /// The time to wait before the next check, in milliseconds; 0 if the limit is reached.
    var slice: Int32 {
        let remaining = remaining
        guard remaining < Self.longestSlice else { return 100 }
        return max(0, Int32((remaining / .milliseconds(1)).rounded(.up)))
    }

    private var remaining: Duration {
        min(allowed - (ContinuousClock.now - begin), timeout.remaining())
    }

    /// A shortened timeout takes effect within this time.
    private static let longestSlice = Duration.milliseconds(100)
}
