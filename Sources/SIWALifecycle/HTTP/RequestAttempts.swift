internal import SIWAJOSE

/// The attempts to send one request: counts them, and decides whether and when there is another.
///
/// A pure value: ``Delivery`` drives one for a single command, ``BatchRun`` one for each item.
struct RequestAttempts: Sendable {
    /// The number of attempts made.
    private(set) var count = 0
    private let policy: RetryPolicy
    private let isRepeatable: Bool
    /// The cost of the failed attempts, in halves of an attempt.
    private var cost = 0

    /// - Parameter isRepeatable: whether sending the request twice does no harm.
    init(_ policy: RetryPolicy, isRepeatable: Bool = true) {
        (self.policy, self.isRepeatable) = (policy, isRepeatable)
    }

    /// Counts an attempt that begins.
    mutating func begin() { count += 1 }

    /// Notes that the attempt failed.
    mutating func fail(_ cause: TokenFailure.Cause) {
        cost += cause.isOverload ? policy.overloadCost.rawValue : AttemptCost.whole.rawValue
    }

    /// Whether the allowed attempts are used up.
    var isExhausted: Bool { cost / AttemptCost.whole.rawValue >= policy.maxAttempts }

    /// The wait before the next attempt when no server asks for one.
    ///
    /// - Parameter jitter: a random number in 0..<1.
    func backoff(jitter: Double) -> Duration { RetryPolicy.backoff(after: count, jitter: jitter) }

    /// The wait before the next attempt; nil if the request is not sent again. A `Retry-After`
    /// from the server is obeyed.
    ///
    /// - Parameters:
    ///   - cause: why the last attempt failed.
    ///   - remaining: the time that remains for all attempts.
    ///   - jitter: a random number in 0..<1.
    func delay(
        after cause: TokenFailure.Cause, at now: NumericDate, remaining: Duration, jitter: Double
    ) -> Duration? {
        guard cause.scope == .passing, !cause.isUnminted, !isExhausted,
            isRepeatable || cause.certainlyNeverLeft
        else { return nil }
        let delay = cause.retryAfter(at: now) ?? backoff(jitter: jitter)
        return delay < remaining ? delay : nil
    }

    /// Whether the request may have taken effect although no response says so: a single-use code
    /// may be spent.
    func isOutcomeUnknown(after cause: TokenFailure.Cause) -> Bool {
        !isRepeatable && cause.mayHaveTakenEffect
    }
}
