/// How often and how soon to try again.
package struct RetryPolicy: Sendable {
    /// The most attempts for one request, including the first.
    package let maxAttempts: Int
    /// The cost of an attempt that an overloaded server refused.
    let overloadCost: AttemptCost

    /// Allows a number of attempts.
    ///
    /// - Parameter maxAttempts: at least 1, which means no retry.
    package init(maxAttempts: Int = 4) {
        self.init(maxAttempts: maxAttempts, overloadCost: .whole)
    }

    init(maxAttempts: Int, overloadCost: AttemptCost) {
        self.maxAttempts = max(maxAttempts, 1)
        // A policy of one attempt never repeats.
        self.overloadCost = maxAttempts <= 1 ? .whole : overloadCost
    }

    /// The wait before the next attempt.
    ///
    /// Full jitter: a random wait between zero and an exponentially growing bound, so that a
    /// thousand clients that failed together do not retry together.
    ///
    /// - Parameters:
    ///   - attempts: the number of attempts made.
    ///   - jitter: a random number in 0..<1.
    static func backoff(after attempts: Int, jitter: Double) -> Duration {
        min(base * (1 << min(attempts - 1, 10)), longest) * jitter
    }

    private static let base = Duration.milliseconds(400)
    private static let longest = Duration.seconds(10)
}

/// The cost of a failed attempt, in halves of an allowed one.
enum AttemptCost: Int, Sendable {
    /// For an overloaded server in a batch: it says little about the item, and if one response in
    /// twelve is a 429, four of 100,000 items meet nothing else four times.
    case half = 1
    /// For everything else.
    case whole = 2
}
