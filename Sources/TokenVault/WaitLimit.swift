internal import Lifecycle

/// The end of one wait: what the patience allowed when it began, or earlier when the patience
/// has become shorter since.
struct WaitLimit: Sendable {
    private let patience: VaultPatience
    private let begin = ContinuousClock.now
    /// What the wait may take as a whole.
    let allowed: Duration

    /// - Parameter longest: limits the wait further.
    init(_ patience: VaultPatience, longest: Duration? = nil) {
        self.patience = patience
        let remaining = max(patience.remaining(), .zero)
        allowed = longest.map { min($0, remaining) } ?? remaining
    }

    /// Whether the time is over.
    var isOver: Bool { remaining <= .zero }

    /// How long to wait before asking again, in milliseconds; 0 if the time is over.
    var slice: Int32 {
        let remaining = remaining
        guard remaining < Self.longestSlice else { return 100 }
        return max(0, Int32((remaining / .milliseconds(1)).rounded(.up)))
    }

    private var remaining: Duration {
        min(allowed - (ContinuousClock.now - begin), patience.remaining())
    }

    /// A patience that becomes shorter takes effect after this time.
    private static let longestSlice = Duration.milliseconds(100)
}
