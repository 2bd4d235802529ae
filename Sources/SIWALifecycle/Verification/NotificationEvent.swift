package import SIWAJOSE

/// The event of a notification.
package struct NotificationEvent: Hashable, Sendable {
    /// What happened.
    ///
    /// An open set, because an event that Apple adds later must reach the caller.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// The text on the wire, with a uniform spelling of the deletion.
        package let rawValue: String

        /// Creates a kind from any text; `account-delete`, which Apple sends, becomes
        /// `account-deleted`, which Apple documents.
        package init(rawValue: String) {
            self.rawValue = rawValue == "account-delete" ? "account-deleted" : rawValue
        }

        /// The user stopped using Sign in with Apple for the app, which invalidates its tokens.
        package static let consentRevoked = Self(rawValue: "consent-revoked")
        /// The user deleted their Apple Account.
        package static let accountDeleted = Self(rawValue: "account-deleted")
        /// The relay address forwards mail again.
        package static let emailEnabled = Self(rawValue: "email-enabled")
        /// The relay address no longer forwards mail.
        package static let emailDisabled = Self(rawValue: "email-disabled")
    }

    /// What happened.
    package let kind: Kind
    /// The user of the event: `sub`.
    package let userID: UserID
    /// When it happened; Apple's fraction of a second is dropped.
    package let occurredAt: NumericDate
    /// The event as received, including unknown members.
    package let text: JSONText
    /// The address, if the event concerns one.
    package var email: String? { text["email"]?.string }
    /// Whether ``email`` is a relay address; nil if absent.
    package var isPrivateEmail: Bool? { text["is_private_email"]?.flag }

    /// Reads the `events` of a notification's claims: Apple sends a string that contains JSON, and
    /// documents an object.
    init(_ claims: TokenClaims) throws(NotificationEventError) {
        let events: JSONText?
        do { events = try claims.unwrapped(.events) } catch { throw .json(error) }
        guard let events else { throw .missing(hasSubject: claims.has(.sub)) }
        guard events.isObject else { throw .notAnObject(events.value.kind) }
        text = events
        guard let kind = text["type"]?.string, !kind.isEmpty else {
            throw .member("type", text["type"])
        }
        guard let userID = text["sub"]?.string, !userID.isEmpty else {
            throw .member("sub", text["sub"])
        }
        guard let time = text["event_time"]?.eventTime else {
            throw .member("event_time", text["event_time"])
        }
        self.kind = Kind(rawValue: kind)
        self.userID = UserID(unchecked: userID)
        occurredAt = time
    }
}

/// Why the event of a notification cannot be read.
enum NotificationEventError: Error, CustomStringConvertible {
    /// `events` is missing; a token with a subject instead is an identity token.
    case missing(hasSubject: Bool)
    /// `events` is a string that is not JSON.
    case json(JSONError)
    /// `events` is neither an object nor a string that contains one.
    case notAnObject(String)
    /// A member of the event is missing or invalid.
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
