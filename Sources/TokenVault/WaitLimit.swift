internal import Lifecycle

/// The end of one wait: after the timeout that applied when it began, or earlier if a signal has
/// shortened the timeout since.
struct WaitLimit: Sendable {
    private let timeout: VaultTimeout
    private let begin = ContinuousClock.now
    /// What the wait may take as a whole.
    let allowed: Duration

    /// - Parameter longest: limits the wait further.
    init(_ timeout: VaultTimeout, longest: Duration? = nil) {
        self.timeout = timeout
        let remaining = max(timeout.remaining(), .zero)
        allowed = longest.map { min($0, remaining) } ?? remaining
    }

    /// How long the wait has taken, for messages when the time is over: a signal may have shortened
    /// it.
    var elapsed: Duration { min(allowed, ContinuousClock.now - begin) }

    /// Whether the time is over.
    var isOver: Bool { remaining <= .zero }

    /// How long to wait before asking again, in milliseconds; 0 if the time is over.
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
