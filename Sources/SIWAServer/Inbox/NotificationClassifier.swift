internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// Classifies notifications by the current profiles. A pure value.
struct NotificationClassifier: Sendable {
    /// The audiences of all profiles.
    let audiences: [String]
    /// The clients whose tokens an event concerns, by its audience.
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
        for audience in audiences { clients[audience] = profiles.clients(concernedBy: audience) }
        (self.clients, self.isDelivering) = (clients, isDelivering)
    }

    /// Reads the token of a body; nil if the body is not `{"payload":"…"}` with a JWS.
    func token(in body: [UInt8]) -> CompactJWS? {
        guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
        return try? CompactJWS.read(notificationBody: body, with: reader)
    }

    /// Classifies a token.
    ///
    /// - Parameters:
    ///   - keySet: nil if the key of the token is unknown, and Apple has not been asked.
    ///   - receipt: when it was received, by the clocks that are known.
    ///   - unverified: the id of the stored payload, if it waited for its key or for Apple's time.
    func verdict(
        on token: CompactJWS, by keySet: KeySet?, receivedAt receipt: TokenTimes,
        verifying unverified: EventID? = nil
    ) -> NotificationVerdict {
        let receivedAt = receipt.machine
        let verifier = TokenVerifier(keySet: keySet, audiences: audiences)
        let verify = { verifier.verify(notification: token, at: $0) }
        let (verification, moment) = receipt.judge(verify)
        // While Apple's time is unknown, a time that fails proves nothing.
        let ignoresTime = receipt.apple.isEmpty && verification.mayPassAtAnotherTime(verify)
        if keySet == nil, let keyID = token.verificationKeyID {
            return .unknownKey(
                keyID: keyID,
                unverifiedNotification(token, verification, moment, ignoringTime: ignoresTime))
        }
        if ignoresTime, let check = verification.failures.first,
            verification.failures.allSatisfy(\.subject.isTime)
        {
            return .untimely(
                check: check.name,
                unverifiedNotification(token, verification, moment, ignoringTime: true))
        }
        guard let notification = verification.claims else {
            let failures = verification.failures
            let other = failures.first { $0.subject != .audience }
            return .refused(
                other.map { .forged(check: $0.name) }
                    ?? .notForUs(audience: token.claims[.aud]?.string ?? ""))
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
        else { return .refused(.unusable) }
        let users = (clients[notification.clientID.rawValue] ?? []).compactMap { client in
            try? VaultUser(client, validating: event.user.userID.rawValue)
        }
        return .genuine(
            IncomingEvent(
                event, isDelivered: isDelivering,
                notice: VaultNotice(notification.event, users: users), verifying: unverified),
            notification.event.kind)
    }

    /// The stored form of a token whose key or time is unknown; nil if it cannot be genuine, or is
    /// too long.
    private func unverifiedNotification(
        _ token: CompactJWS, _ verification: NotificationVerification, _ receivedAt: NumericDate,
        ignoringTime: Bool
    ) -> UnverifiedNotification? {
        let failed = verification.failures.map(\.subject)
            .filter { $0 != .key && !(ignoringTime && $0.isTime) }
        let payload = token.bytes
        guard failed.isEmpty, payload.count <= Self.unverifiedLimit,
            let claimed = ClaimedEvent(token), claimed.occurredAt.isWritable,
            let id = try? EventID(unverified: payload)
        else { return nil }
        return UnverifiedNotification(
            id: id, payload: payload, type: claimed.type, user: claimed.user,
            occurredAt: claimed.occurredAt, receivedAt: receivedAt)
    }
}

/// The event that a token claims to report; not verified.
private struct ClaimedEvent {
    let type: String
    let user: VaultUser
    let occurredAt: NumericDate

    init?(_ token: CompactJWS) {
        guard let claim = token.payload.normalizedEvent,
            let audience = token.claims[.aud]?.string,
            let type = claim["type"]?.string, let subject = claim["user_id"]?.string,
            let client = try? ClientID(validating: audience),
            let user = try? VaultUser(client, validating: subject)
        else { return nil }
        self.type = String(type.prefix(64))
        self.user = user
        occurredAt =
            claim["event_time"]?.string.flatMap { NumericDate(rfc3339: $0) }
            ?? token.claims.moment(.iat) ?? NumericDate(0)
    }
}
