internal import SIWALifecycle
internal import SIWAVaultRecords

/// The outcome of an attempt to deliver an event.
package struct DeliveryOutcome: Hashable, Sendable {
    /// The event that was to be delivered.
    package let id: EventID
    /// What happens next.
    package let next: Next
    /// Why the attempt failed; nil after a success.
    package let error: String?

    /// What happens to an event after an attempt.
    package enum Next: Hashable, Sendable {
        /// The application accepted it.
        case done
        /// It is sent again after a delay.
        case retry(after: Duration)
        /// It is not sent again unless an operator replays it.
        case dead
    }

    /// The application accepted the event.
    package static func accepted(_ id: EventID) -> Self {
        Self(id: id, next: .done, error: nil)
    }

    /// The attempt failed.
    ///
    /// - Parameters:
    ///   - retryAfter: how long the application asks to wait.
    ///   - jitter: 0..<1, random.
    package static func failed(
        _ delivery: DueDelivery, _ error: String, retryAfter: Duration? = nil, jitter: Double
    ) -> Self {
        let delay = Backoff.delivery.delay(
            after: delivery.attempts + 1, age: delivery.age, retryAfter: retryAfter,
            jitter: jitter)
        return Self(
            id: delivery.id, next: delay.map { .retry(after: $0) } ?? .dead, error: error)
    }

    /// How long an event that keeps failing holds back later events of its user.
    package static let hold = Duration.seconds(3600)
}
