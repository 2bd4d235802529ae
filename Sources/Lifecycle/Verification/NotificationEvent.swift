package import JOSE

/// The one event of a notification.
package struct NotificationEvent: Hashable, Sendable {
    /// What happened.
    ///
    /// Open, because an event Apple adds tomorrow must reach the caller intact.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// The text on the wire, but for the deletion's two spellings.
        package let rawValue: String

        /// Takes any text; `account-delete`, as Apple sends it, becomes `account-deleted`, as
        /// Apple documents it.
        package init(rawValue: String) {
            self.rawValue = rawValue == "account-delete" ? "account-deleted" : rawValue
        }

        /// The user stopped using Apple's sign-in for the app: its tokens are gone.
        package static let consentRevoked = Self(rawValue: "consent-revoked")
        /// The user deleted their Apple Account.
        package static let accountDeleted = Self(rawValue: "account-deleted")
        /// The relay address passes mail on again.
        package static let emailEnabled = Self(rawValue: "email-enabled")
        /// The relay address passes no more mail on.
        package static let emailDisabled = Self(rawValue: "email-disabled")
    }

    /// What happened.
    package let kind: Kind
    /// The user.
    package let userID: UserID
    /// When; Apple's fraction of a second is dropped.
    package let occurredAt: NumericDate
    /// The address, where the event is about one.
    package let email: String?
    /// Whether ``email`` is a relay's; nil where Apple does not say.
    package let isPrivateEmail: Bool?
    /// The event as received, members siwa does not know included.
    package let json: JSON

    /// Reads the `events` of a notification's claims.
    init(_ claims: JSON) throws(NotificationEventError) {
        json = try Self.object(claims)
        guard let kind = json["type"]?.string, !kind.isEmpty else {
            throw .member("type", json["type"])
        }
        guard let userID = json["sub"]?.string, !userID.isEmpty else {
            throw .member("sub", json["sub"])
        }
        guard let time = json["event_time"]?.eventTime else {
            throw .member("event_time", json["event_time"])
        }
        self.kind = Kind(rawValue: kind)
        self.userID = UserID(unchecked: userID)
        occurredAt = time
        email = json["email"]?.string
        isPrivateEmail = json["is_private_email"]?.flag
    }

    /// Apple sends a text that holds JSON, and documents the JSON itself.
    static func object(_ claims: JSON) throws(NotificationEventError) -> JSON {
        guard let events = claims["events"] else {
            throw .missing(hasSubject: claims["sub"] != nil)
        }
        var event = events
        if case .string(let text) = events {
            do { event = try JSON(text: text) } catch { throw .json(error) }
        }
        guard event.members != nil else { throw .notAnObject(event.kind) }
        return event
    }
}

/// Why a notification has no event that can be read.
enum NotificationEventError: Error {
    /// There is no `events`; a token with a subject in its place is an identity token.
    case missing(hasSubject: Bool)
    /// `events` is a text that is not JSON.
    case json(JSONError)
    /// `events` is neither an object nor the text of one.
    case notAnObject(String)
    /// A member of the event is missing, or not what it must be.
    case member(String, JSON?)

    var description: String {
        switch self {
        case .missing(let hasSubject):
            "events is missing\(hasSubject ? "; it has sub, so it is an identity token" : "")"
        case .json(let error): "events \(error)"
        case .notAnObject(let kind): "events is \(kind), expected an object or the text of one"
        case .member(let name, let value): "\(name) of the event is \(value.shown)"
        }
    }
}
