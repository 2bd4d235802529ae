package import Lifecycle

/// An event that is to be sent to the application now.
package struct DueDelivery: Hashable, Sendable {
    /// What names the event: the `webhook-id`.
    package let id: EventID
    /// What is sent.
    package let body: [UInt8]
    /// How often it was sent before.
    package let attempts: Int
    /// How long ago it became pending, by the database's clock.
    package let age: Duration

    /// Describes a delivery.
    package init(id: EventID, body: [UInt8], attempts: Int, age: Duration) {
        (self.id, self.body, self.attempts, self.age) = (id, body, attempts, age)
    }
}

/// Events that were claimed.
package struct DueDeliveries: Hashable, Sendable {
    /// The events that are to be sent.
    package var deliveries: [DueDelivery] = []
    /// What is wrong with the rows that cannot be read; they hold back no other event.
    package var damaged: [VaultError] = []

    /// No deliveries.
    package init() {}
}

/// What became of an attempt to deliver an event.
package struct DeliveryOutcome: Hashable, Sendable {
    /// The event.
    package let id: EventID
    /// What happens next.
    package let next: Next
    /// Why the attempt failed; nil if it did not.
    package let error: String?

    /// What happens to an event after an attempt.
    package enum Next: Hashable, Sendable {
        /// The application accepted it.
        case done
        /// It is sent again after a while.
        case retry(after: Duration)
        /// It is not sent again by itself.
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
