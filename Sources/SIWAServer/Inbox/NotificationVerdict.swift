internal import SIWALifecycle
internal import SIWAServerRecords

/// The decision about a body that was posted as a notification. A pure value.
enum NotificationVerdict: Sendable {
    /// It is not accepted, whatever becomes known later.
    case refused(Refusal)
    /// Its key is unknown. If Apple's keys cannot be fetched, the payload is kept; nil if it cannot
    /// be genuine.
    case unknownKey(keyID: String, UnverifiedNotification?)
    /// Only its times fail, as far as is known: Apple's time is not. The payload is kept until it
    /// is; nil if it is too long. `check` is the name of the failed check.
    case untimely(check: String, UnverifiedNotification?)
    /// It is genuine.
    case genuine(IncomingEvent, NotificationEvent.Kind)

    /// Why a notification is not accepted.
    enum Refusal: Hashable, Sendable {
        /// The body is not a notification.
        case malformed
        /// Apple did not send it, or it has expired; `check` is the name of the failed check.
        case forged(check: String)
        /// Apple sent it to another app, named in its `aud`.
        case notForUs(audience: String)
        /// Apple sent it, but its contents cannot be stored.
        case unusable
    }
}
