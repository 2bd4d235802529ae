internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// A server-to-server notification, signed and ready to be posted.
struct EmulatedNotification: Sendable {
    /// `jti`, by which receivers recognise duplicates.
    let id: String
    /// The signed JWT, in compact serialization.
    let payload: String

    /// The body Apple posts.
    var body: JSON { ["payload": .string(payload)] }
}

/// A notification before it is signed.
struct NotificationDraft: Sendable {
    let id: String
    let claims: JSON
    /// What is wrong with it on purpose.
    let alteration: TokenAlteration?
}

extension EmulatorKeys {
    /// Signs notifications on every processor: each signature takes about a millisecond.
    @concurrent func sign(_ drafts: [NotificationDraft]) async throws -> [EmulatedNotification] {
        try await withThrowingTaskGroup(of: (Int, [EmulatedNotification]).self) { group in
            for start in stride(from: 0, to: drafts.count, by: 64) {
                group.addTask {
                    let part = drafts[start..<min(start + 64, drafts.count)]
                    return (start, try part.map { try sign($0) })
                }
            }
            let parts = try await group.reduce(into: []) { $0.append($1) }
            return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
        }
    }

    private func sign(_ draft: NotificationDraft) throws -> EmulatedNotification {
        let payload =
            if let alteration = draft.alteration {
                try token(draft.claims, altered: alteration)
            } else {
                try token(draft.claims)
            }
        return EmulatedNotification(id: draft.id, payload: payload)
    }
}

extension Service {
    /// Applies an event to its users, and drafts Apple's notifications of it: one per user. A
    /// notification that is wrong on purpose is not Apple's, so its event has not happened.
    mutating func notify(_ request: NotificationRequest) throws -> [NotificationDraft] {
        try request.users.map { user in
            if request.alteration == nil { apply(request, to: user) }
            let id = Base64URL.encode(random.notifications.bytes(16))
            let event = try event(request, of: user)
            let claims: JSON = [
                "iss": "https://appleid.apple.com", "aud": request.client.clientID.json,
                "exp": .integer((now() + .seconds(86_400)).seconds),
                "iat": .integer(now().seconds), "jti": .string(id),
                "events": behaviors.notificationEvents == .string ? .string(event.text) : event,
            ]
            return NotificationDraft(id: id, claims: claims, alteration: request.alteration)
        }
    }

    /// The other effects of the event at Apple.
    private mutating func apply(_ request: NotificationRequest, to user: EmulatedUser) {
        let userID = user.userID
        switch request.type {
        case "consent-revoked": ledger.end(userID, with: group(of: request.client))
        case "account-delete", "account-deleted": ledger.end(userID, with: configuration.clients)
        case "email-disabled": ledger.silentRelays.insert(userID)
        case "email-enabled": ledger.silentRelays.remove(userID)
        default: break
        }
    }

    /// The clients that share a consent: the client and the websites in its group.
    private func group(of client: EmulatedClient) -> [EmulatedClient] {
        configuration.clients.filter { $0 == client || $0.kind == .web }
    }

    /// type, sub, the address when it is about one, event_time: the order of Apple's pages.
    private mutating func event(
        _ request: NotificationRequest, of user: EmulatedUser
    ) throws(OpenSSLError) -> JSON {
        var members = [
            JSON.Member("type", .string(request.type)),
            JSON.Member("sub", try subject(of: user).json),
        ]
        if ["email-enabled", "email-disabled"].contains(request.type) {
            let relay = try relay(of: user, for: owner.teamID)
            let isText = behaviors.notificationPrivateEmail == .string
            members.append(JSON.Member("email", .string(relay)))
            members.append(JSON.Member("is_private_email", isText ? "true" : true))
        }
        let factor = behaviors.notificationTime == .milliseconds ? 1000 : 1
        let time = now().seconds.multipliedReportingOverflow(by: factor)
        members.append(
            JSON.Member("event_time", .integer(time.overflow ? .max : time.partialValue)))
        return .object(members)
    }
}
