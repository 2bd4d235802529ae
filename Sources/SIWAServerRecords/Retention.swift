internal import SIWALifecycle
internal import SIWAVaultRecords

/// How long the server keeps records that need no more work. A `jti` is kept at least until an hour
/// after its notification expires.
package struct Retention: Hashable, Sendable {
    /// Delivered, discarded and other events that need no further work.
    package let events: Duration

    /// Keeps events for 30 days by default.
    package init(events: Duration = .seconds(30 * 86_400)) { self.events = events }

    /// How long an event is kept after its last change of state; nil while it needs more work.
    package func duration(of state: InboxState) -> Duration? {
        switch state {
        case .done, .discarded, .none, .rejected: events
        case .dead: Self.dead
        case .pending, .unverified: nil
        }
    }

    /// Dead events, and all revocations that ended.
    package static let dead = Duration.seconds(90 * 86_400)
    /// How long after its expiry a notification may still be repeated, because of clock skew.
    package static let afterExpiry = Duration.seconds(3600)
}
