package import SIWALifecycle
internal import SIWAVaultRecords

/// An event that is to be sent to the application now.
package struct DueDelivery: Hashable, Sendable {
    /// The id of the event: the `webhook-id`.
    package let id: EventID
    /// The JSON object that is posted, the same at every attempt.
    package let body: [UInt8]
    /// The number of earlier attempts.
    package let attempts: Int
    /// How long ago it became pending, by the database's clock.
    package let age: Duration

    /// Creates a delivery.
    package init(id: EventID, body: [UInt8], attempts: Int, age: Duration) {
        (self.id, self.body, self.attempts, self.age) = (id, body, attempts, age)
    }

    /// Whether it was sent before.
    package var isRetry: Bool { attempts > 0 }
}

/// Claimed events.
package struct DueDeliveries: Hashable, Sendable {
    /// The events to send.
    package var deliveries: [DueDelivery] = []
    /// The errors of unreadable rows; they hold back no other event.
    package var damaged: [StoreError] = []

    /// No deliveries.
    package init() {}
}
