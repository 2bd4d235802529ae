/// When something that failed is tried again, and when it is given up. A pure value: the random
/// number and the time that passed come from the caller.
package struct Backoff: Hashable, Sendable {
    /// How long it is tried.
    package let total: Duration

    /// Deliveries to the application.
    package static let delivery = Self(total: .seconds(7 * 86_400))
    /// Revocations.
    package static let revocation = Self(total: .seconds(30 * 86_400))

    /// How long to wait after a failed attempt: twice as long each time, from a second to an
    /// hour, and at least as long as the receiver asks for (`Retry-After`, up to a day).
    ///
    /// - Parameters:
    ///   - attempts: how many failed, this one included.
    ///   - age: how long ago the first was due.
    ///   - jitter: 0..<1, random: what failed together is not tried again together.
    /// - Returns: nil when the time is over.
    package func delay(
        after attempts: Int, age: Duration, retryAfter: Duration? = nil, jitter: Double
    ) -> Duration? {
        guard age < total else { return nil }
        let doubled = Self.shortest * (1 << (min(max(attempts, 1), 13) - 1))
        let share = min(max(jitter, 0), 1)
        // The last attempts are an hour apart with the jitter that is added.
        let delay = min(doubled, Self.longest * 0.8) * (1 + share / 4)
        return max(delay, min(retryAfter ?? .zero, Self.longestRetryAfter))
    }

    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(3600)
    private static let longestRetryAfter = Duration.seconds(86_400)
}
