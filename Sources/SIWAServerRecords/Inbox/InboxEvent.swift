package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords

/// A verified event, as the inbox keeps it and as it is delivered.
package struct InboxEvent: Hashable, Sendable {
    /// The `jti` of its notification.
    package let id: EventID
    /// The type of the event.
    package let type: String
    /// The client that it is about, the notification's `aud`, and the user.
    package let user: VaultUser
    /// When it happened.
    package let occurredAt: NumericDate
    /// When its notification was received.
    package let receivedAt: NumericDate
    /// When its notification expires: until then Apple may send it again.
    package let expiresAt: NumericDate
    /// The delivered body, the same at every attempt: the event as `siwa notification` prints it,
    /// with `jti`, `client_id` and `received_at`.
    package let body: [UInt8]

    /// Creates an event from a verified notification.
    ///
    /// - Parameter payload: the notification's JWS.
    /// - Throws: ``IdentifierError`` if the client or the user cannot be stored in a database,
    ///   ``UnusableEvent`` if its time cannot, and ``StoreError`` if OpenSSL provides no SHA-256.
    package init(
        _ notification: Notification, payload: @autoclosure () -> [UInt8], receivedAt: NumericDate
    ) throws {
        id = try EventID(jti: notification.id, payload: payload())
        type = Self.type(notification.event.kind)
        user = try VaultUser(
            ClientID(validating: notification.clientID.rawValue),
            validating: notification.event.userID.rawValue)
        occurredAt = notification.event.occurredAt
        guard occurredAt.isWritable else { throw UnusableEvent() }
        self.receivedAt = receivedAt
        expiresAt = notification.expiresAt
        var body = JSONLine()
        body.add(membersOf: notification.event, except: Self.ownNames)
        body.add("jti", id.rawValue)
        body.add("client_id", user.clientID.rawValue)
        body.add("received_at", receivedAt)
        self.body = (consume body).finishedWithoutLineEnd()
    }

    private static let ownNames = ["jti", "client_id", "received_at"]

    /// Creates an event.
    package init(
        id: EventID, type: String, user: VaultUser, occurredAt: NumericDate,
        receivedAt: NumericDate, expiresAt: NumericDate, body: [UInt8]
    ) {
        (self.id, self.type, self.user, self.body) = (id, type, user, body)
        (self.occurredAt, self.receivedAt) = (occurredAt, receivedAt)
        self.expiresAt = expiresAt
    }

    /// As much of a type as is stored; Apple's types have at most 15 characters.
    private static func type(_ kind: NotificationEvent.Kind) -> String {
        kind.rawValue.utf8.count <= 64 ? kind.rawValue : String(kind.rawValue.prefix(64))
    }
}

/// The time of an event is before the year 0 or after the year 9999.
package struct UnusableEvent: Error, CustomStringConvertible {
    /// What is wrong with it.
    package var description: String { "its time is before the year 0 or after the year 9999" }
}

/// An event to store. An object, because a group of them is passed on and sorted several times, and
/// copying a structure would count a reference to each of its texts.
package final class IncomingEvent: Sendable {
    /// The event, as it is delivered.
    package let event: InboxEvent
    /// Whether it is delivered to an application.
    package let isDelivered: Bool
    /// The change to stored tokens; nil if absent.
    package let notice: VaultNotice?
    /// The unverified payload that this event replaces.
    package let unverified: EventID?

    /// Creates an event to store.
    package init(
        _ event: InboxEvent, isDelivered: Bool, notice: VaultNotice?,
        verifying unverified: EventID? = nil
    ) {
        (self.event, self.isDelivered) = (event, isDelivered)
        (self.notice, self.unverified) = (notice, unverified)
    }
}

/// The outcome of storing events.
package struct InboxReceipt: Hashable, Sendable {
    /// The new events; each is in the inbox now.
    package var stored: Set<EventID> = []
    /// Unreadable rows of the vault, which the events therefore did not change.
    package var damaged: [DamagedRecord] = []

    /// An empty receipt.
    package init() {}
}

/// A payload whose signature cannot be verified until Apple's keys can be fetched.
package struct UnverifiedNotification: Hashable, Sendable {
    /// Begins with `unverified-`; see ``EventID``.
    package let id: EventID
    /// The JWS as received, in compact serialization.
    package let payload: [UInt8]
    /// The type that the payload claims; not verified.
    package let type: String
    /// The user that the payload claims; not verified.
    package let user: VaultUser
    /// The time of the event that the payload claims; not verified.
    package let occurredAt: NumericDate
    /// When it was received; its other checks use this time.
    package let receivedAt: NumericDate

    /// Creates a payload.
    package init(
        id: EventID, payload: [UInt8], type: String, user: VaultUser, occurredAt: NumericDate,
        receivedAt: NumericDate
    ) {
        (self.id, self.payload, self.type, self.user) = (id, payload, type, user)
        (self.occurredAt, self.receivedAt) = (occurredAt, receivedAt)
    }

    /// The outcome of storing a payload.
    package enum Outcome: Hashable, Sendable {
        /// It was stored.
        case kept
        /// It is stored already.
        case known
        /// The maximum number of payloads is stored.
        case full
    }

    /// The result of a verification with Apple's keys.
    package enum Verdict: Hashable, Sendable {
        /// Apple did not sign it: it is deleted.
        case forged
        /// Apple's keys were not available for seven days: it stays, rejected.
        case rejected
    }
}
