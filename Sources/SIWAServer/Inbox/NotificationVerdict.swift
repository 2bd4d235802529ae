internal import JOSE
internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

/// What is to be done with a body that was posted as a notification. A pure value.
enum NotificationVerdict: Sendable {
    /// It is no notification of any kind.
    case malformed
    /// Apple did not send it, or it does not count any more: a check, by its name, failed.
    case forged(check: String)
    /// Apple sent it to somebody else, who is named by its `aud`.
    case notForUs(audience: String)
    /// Apple sent it, and no database could keep it.
    case unusable
    /// Its key is unknown; if Apple's keys cannot be had, this is kept, or nothing if it could
    /// not be genuine.
    case unknownKey(keyID: String, UnverifiedNotification?)
    /// It is genuine.
    case genuine(IncomingEvent, NotificationEvent.Kind)
}

/// Judges notifications by the rules of one moment. A pure value.
struct NotificationJudge: Sendable {
    /// Those of all profiles.
    let audiences: [String]
    /// The clients whose tokens an event concerns, by the audience that it names.
    let clients: [String: [ClientID]]
    /// Whether events are delivered.
    let isDelivering: Bool
    private let reader = SharedJWSReader()

    /// The longest payload that is kept until it can be verified.
    static let unverifiedLimit = 8 << 10

    /// - Parameter profiles: the clients of all profiles.
    init(_ profiles: ProfileClients, isDelivering: Bool) {
        audiences = profiles.audiences
        var clients: [String: [ClientID]] = [:]
        for audience in audiences {
            let teams = profiles.all.filter {
                $0.clientID.rawValue == audience || $0.audiences.contains(audience)
            }.map(\.teamID)
            let ofTeams = profiles.all.filter { teams.contains($0.teamID) }.map(\.clientID)
            // `aud` is the primary App ID of the group, which may have no profile of its own.
            clients[audience] = Array(Set(ofTeams + [ClientID(unchecked: audience)]))
        }
        (self.clients, self.isDelivering) = (clients, isDelivering)
    }

    /// Reads a body: nil if it is not `{"payload":"…"}` with a JWS.
    func token(in body: [UInt8]) -> CompactJWS? {
        guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
        return try? CompactJWS(notificationBody: body, with: reader)
    }

    /// Judges a token.
    ///
    /// - Parameters:
    ///   - keySet: nil if the key of the token is unknown, and Apple has not been asked.
    ///   - receivedAt: when it was received: its claims are checked as of then.
    ///   - unverified: what was kept of it until its key came.
    func verdict(
        on token: CompactJWS, by keySet: KeySet?, receivedAt: NumericDate,
        verifying unverified: EventID? = nil
    ) -> NotificationVerdict {
        let verifier = TokenVerifier(keySet: keySet, audiences: audiences)
        let verification = verifier.verify(notification: token, at: receivedAt)
        if keySet == nil, let keyID = token.verificationKeyID {
            return .unknownKey(
                keyID: keyID, unverifiedNotification(token, verification, receivedAt))
        }
        guard let notification = verification.claims else {
            let failures = verification.failures
            let other = failures.first { $0.subject != .audience }
            return other.map { .forged(check: $0.name) }
                ?? .notForUs(audience: token.claims["aud"]?.string ?? "")
        }
        return genuine(notification, token, receivedAt, unverified)
    }

    private func genuine(
        _ notification: Notification, _ token: CompactJWS, _ receivedAt: NumericDate,
        _ unverified: EventID?
    ) -> NotificationVerdict {
        guard
            let event = try? InboxEvent(
                notification, payload: token.bytes, receivedAt: receivedAt)
        else { return .unusable }
        let users = (clients[notification.clientID.rawValue] ?? []).compactMap { client in
            try? VaultUser(client, validating: event.user.userID.rawValue)
        }
        return .genuine(
            IncomingEvent(
                event, isDelivered: isDelivering,
                notice: VaultNotice(notification.event, users: users), verifying: unverified),
            notification.event.kind)
    }

    /// What is kept of a token whose key is unknown; nil if it could not be genuine, or is too long.
    private func unverifiedNotification(
        _ token: CompactJWS, _ verification: NotificationVerification, _ receivedAt: NumericDate
    ) -> UnverifiedNotification? {
        let failed = verification.failures.map(\.subject).filter { $0 != .key }
        let payload = token.bytes
        guard failed.isEmpty, payload.count <= Self.unverifiedLimit,
            let claimed = ClaimedEvent(token), let id = try? EventID(unverified: payload)
        else { return nil }
        return UnverifiedNotification(
            id: id, payload: payload, type: claimed.type, user: claimed.user,
            occurredAt: claimed.occurredAt, receivedAt: receivedAt)
    }
}

/// What a token claims to report; nothing of it is known to be true.
private struct ClaimedEvent {
    let type: String
    let user: VaultUser
    let occurredAt: NumericDate

    init?(_ token: CompactJWS) {
        guard let claim = token.payload.normalizedEvent,
            let audience = token.claims["aud"]?.string,
            let type = claim["type"]?.string, let subject = claim["user_id"]?.string,
            let client = try? ClientID(validating: audience),
            let user = try? VaultUser(client, validating: subject)
        else { return nil }
        self.type = String(type.prefix(64))
        self.user = user
        occurredAt =
            claim["event_time"]?.string.flatMap { NumericDate(rfc3339: $0) }
            ?? token.claims["iat"]?.moment ?? NumericDate(0)
    }
}
