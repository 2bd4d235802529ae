internal import SIWALifecycle
internal import SIWAVaultRecords

/// How long to wait before a failed attempt is repeated, and when to give up. A pure value: the
/// caller passes the random number and the elapsed time.
package struct Backoff: Hashable, Sendable {
    /// After this time, no more attempts are made.
    package let total: Duration

    /// Deliveries to the application.
    package static let delivery = Self(total: .seconds(7 * 86_400))
    /// Revocations.
    package static let revocation = Self(total: .seconds(30 * 86_400))

    /// How long to wait after a failed attempt: twice as long each time, from a second to an
    /// hour, and at least as long as the receiver asks for (`Retry-After`, up to an hour).
    ///
    /// - Parameters:
    ///   - attempts: the number of failed attempts, including this one.
    ///   - age: how long ago the first was due.
    ///   - jitter: random, 0..<1: spreads the repetition of attempts that failed together.
    /// - Returns: nil if no more attempts are made.
    package func delay(
        after attempts: Int, age: Duration, retryAfter: Duration? = nil, jitter: Double
    ) -> Duration? {
        guard age < total else { return nil }
        let doubled = Self.shortest * (1 << (min(max(attempts, 1), 13) - 1))
        let share = min(max(jitter, 0), 1)
        // With the added jitter, the last attempts are an hour apart.
        let delay = min(doubled, Self.longest * 0.8) * (1 + share / 4)
        return max(delay, min(retryAfter ?? .zero, Self.longest))
    }

    private static let shortest = Duration.seconds(1)
    /// The longest wait.
    package static let longest = Duration.seconds(3600)
}
