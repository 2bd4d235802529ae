package import JOSE
package import Lifecycle

/// A verified event, as the inbox keeps it and as it is delivered.
package struct InboxEvent: Hashable, Sendable {
    /// What names it.
    package let id: EventID
    /// What happened.
    package let type: String
    /// The client that it is about, the notification's `aud`, and the user.
    package let user: VaultUser
    /// When it happened.
    package let occurredAt: NumericDate
    /// When its notification was received.
    package let receivedAt: NumericDate
    /// When its notification expires: until then Apple may send it again.
    package let expiresAt: NumericDate
    /// What is delivered, the same at every attempt: the event as `siwa notification` prints it,
    /// with `jti`, `client_id` and `received_at`.
    package let body: [UInt8]

    /// Makes an event of a verified notification.
    ///
    /// - Parameter payload: the notification's JWS.
    /// - Throws: ``IdentifierError`` if no database can keep the client or the user, and
    ///   ``VaultError`` if OpenSSL provides no SHA-256.
    package init(
        _ notification: Notification, payload: @autoclosure () -> [UInt8], receivedAt: NumericDate
    ) throws {
        id = try EventID(jti: notification.id, payload: payload())
        type = String(notification.event.kind.rawValue.prefix(Self.longestType))
        user = try VaultUser(
            ClientID(validating: notification.clientID.rawValue),
            validating: notification.event.userID.rawValue)
        occurredAt = notification.event.occurredAt
        self.receivedAt = receivedAt
        expiresAt = notification.expiresAt
        let own: [JSON.Member] = [
            .init("jti", .string(id.rawValue)),
            .init("client_id", .string(user.clientID.rawValue)),
            .init("received_at", .string(receivedAt.rfc3339)),
        ]
        let names = own.map(\.name)
        let event = (notification.event.normalized.members ?? []).filter { member in
            !names.contains { $0.isExactly(member.name) }
        }
        body = JSON.object(event + own).bytes
    }

    /// Describes an event.
    package init(
        id: EventID, type: String, user: VaultUser, occurredAt: NumericDate,
        receivedAt: NumericDate, expiresAt: NumericDate, body: [UInt8]
    ) {
        (self.id, self.type, self.user, self.body) = (id, type, user, body)
        (self.occurredAt, self.receivedAt) = (occurredAt, receivedAt)
        self.expiresAt = expiresAt
    }

    /// In characters; Apple's types have at most 15.
    private static let longestType = 64
}

/// An event that is to be kept.
package struct IncomingEvent: Hashable, Sendable {
    /// The event.
    package let event: InboxEvent
    /// Whether it is delivered to an application.
    package let isDelivered: Bool
    /// What it means to stored tokens; nil if it means no change.
    package let notice: VaultNotice?
    /// The payload that was kept until it could be verified, and is removed now.
    package let unverified: EventID?

    /// Describes what is to be kept.
    package init(
        _ event: InboxEvent, isDelivered: Bool, notice: VaultNotice?,
        verifying unverified: EventID? = nil
    ) {
        (self.event, self.isDelivered) = (event, isDelivered)
        (self.notice, self.unverified) = (notice, unverified)
    }
}

/// What became of events that were to be kept.
package struct InboxReceipt: Hashable, Sendable {
    /// The events that were not known before; each is in the inbox now.
    package var stored: Set<EventID> = []
    /// Rows of the vault that cannot be read, and that the events therefore did not change.
    package var damaged: [DamagedRecord] = []

    /// Initially empty.
    package init() {}
}

/// A payload whose signature cannot be verified until Apple's keys can be fetched.
package struct UnverifiedNotification: Hashable, Sendable {
    /// What names it.
    package let id: EventID
    /// The JWS.
    package let payload: [UInt8]
    /// What the payload claims to be; not verified.
    package let type: String
    /// The user whom the payload claims to be about.
    package let user: VaultUser
    /// When it claims that the event happened.
    package let occurredAt: NumericDate
    /// When it was received: its other checks are made as of this moment.
    package let receivedAt: NumericDate

    /// Describes a payload.
    package init(
        id: EventID, payload: [UInt8], type: String, user: VaultUser, occurredAt: NumericDate,
        receivedAt: NumericDate
    ) {
        (self.id, self.payload, self.type, self.user) = (id, payload, type, user)
        (self.occurredAt, self.receivedAt) = (occurredAt, receivedAt)
    }

    /// What became of a payload that was to be kept.
    package enum Outcome: Hashable, Sendable {
        /// It is kept now.
        case kept
        /// It was kept before.
        case known
        /// As many are kept as may be.
        case full
    }

    /// What Apple's keys showed.
    package enum Verdict: Hashable, Sendable {
        /// Apple did not sign it: it is deleted.
        case forged
        /// Apple's keys were not available for seven days: it stays, rejected.
        case rejected
    }
}
