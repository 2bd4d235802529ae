/// How long the server keeps what has ended. A `jti` is remembered until its notification has
/// expired for an hour in any case.
package struct Retention: Hashable, Sendable {
    /// Delivered, discarded and other events that need no further work.
    package let events: Duration

    /// Keeps events for 30 days by default.
    package init(events: Duration = .seconds(30 * 86_400)) { self.events = events }

    /// How long an event is kept after its state last changed; nil while something is to be done
    /// about it.
    package func duration(of state: InboxState) -> Duration? {
        switch state {
        case .done, .discarded, .none, .rejected: events
        case .dead: Self.dead
        case .pending, .unverified: nil
        }
    }

    /// Events and revocations that were given up, and revocations that ended.
    package static let dead = Duration.seconds(90 * 86_400)
    /// How long after its expiry a notification may still be sent again, by a clock that is slow.
    package static let afterExpiry = Duration.seconds(3600)
}
