/// How often and how soon to try again. A pure value: it neither waits nor sends.
public struct RetryPolicy: Sendable {
    /// The most attempts at one request, the first included.
    public let maxAttempts: Int

    /// - Parameter maxAttempts: at least 1, which means no retry.
    public init(maxAttempts: Int = 4) { self.maxAttempts = max(maxAttempts, 1) }

    /// The wait before the next attempt, or nil when there is none.
    ///
    /// Full jitter: anything between nothing and an exponentially growing bound, so that
    /// a thousand clients that failed together do not return together. A server that
    /// says when to return is believed.
    ///
    /// - Parameters:
    ///   - attempts: how many were made.
    ///   - retryAfter: what the server asked for.
    ///   - remaining: what is left of the time the caller gave.
    ///   - jitter: a random number in 0..<1.
    public func delay(
        after attempts: Int, retryAfter: Duration?, remaining: Duration, jitter: Double
    ) -> Duration? {
        guard attempts < maxAttempts else { return nil }
        let bound = min(Self.base * (1 << min(attempts - 1, 10)), Self.longest)
        let delay = retryAfter ?? bound * jitter
        return delay < remaining ? delay : nil
    }

    private static let base = Duration.milliseconds(400)
    private static let longest = Duration.seconds(10)
}
