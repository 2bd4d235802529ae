internal import SIWACrypto
internal import SignInWithApple

/// A server-to-server notification, signed and ready to be posted.
struct Notification {
    /// `jti`: what a receiver knows a duplicate by.
    let id: String
    /// The JWT.
    let payload: String
    let delivery: Switches.NotificationDelivery

    /// The body Apple posts.
    var body: JSON { ["payload": .string(payload)] }
}

extension Service {
    /// Lets something happen to a user, and writes the notification of it.
    mutating func notify(_ request: NotificationRequest) throws -> Notification {
        apply(request)
        let id = Base64URL.encode(Fresh.bytes(16))
        let event = try event(request)
        let claims: JSON = [
            "iss": "https://appleid.apple.com", "aud": request.client.clientID.json,
            "exp": .integer((now() + .seconds(86_400)).seconds), "iat": .integer(now().seconds),
            "jti": .string(id),
            "events": switches.notificationEvents == .string ? .string(event.text) : event,
        ]
        return Notification(
            id: id, payload: try keys.token(claims), delivery: switches.notificationDelivery)
    }

    /// What else Apple does when it sends such a notification.
    private mutating func apply(_ request: NotificationRequest) {
        let userID = request.user.userID
        switch request.type {
        case "consent-revoked": ledger.end(userID, with: group(of: request.client))
        case "account-delete", "account-deleted": ledger.end(userID, with: configuration.clients)
        case "email-disabled": ledger.silentRelays.insert(userID)
        case "email-enabled": ledger.silentRelays.remove(userID)
        default: break
        }
    }

    /// Whom one consent is given to: the client and the websites beside it.
    private func group(of client: EmulatedClient) -> [EmulatedClient] {
        configuration.clients.filter { $0 == client || $0.kind == .web }
    }

    /// type, sub, the address when it is about one, event_time: the order of Apple's pages.
    private mutating func event(_ request: NotificationRequest) throws(OpenSSLError) -> JSON {
        var members = [
            JSON.Member("type", .string(request.type)),
            JSON.Member("sub", try subject(of: request.user).json),
        ]
        if ["email-enabled", "email-disabled"].contains(request.type) {
            let relay = try relay(of: request.user, for: owner.teamID)
            let isText = switches.notificationPrivateEmail == .string
            members.append(JSON.Member("email", .string(relay)))
            members.append(JSON.Member("is_private_email", isText ? "true" : true))
        }
        let factor = switches.notificationTime == .milliseconds ? 1000 : 1
        let time = now().seconds.multipliedReportingOverflow(by: factor)
        members.append(
            JSON.Member("event_time", .integer(time.overflow ? .max : time.partialValue)))
        return .object(members)
    }
}
