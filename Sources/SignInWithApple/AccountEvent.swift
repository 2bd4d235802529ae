public import FoundationEssentials
internal import SIWAJOSE
internal import SIWALifecycle

/// The content of a verified notification (Apple: "Processing changes for Sign in with Apple
/// accounts").
public struct AccountEvent: Hashable, Codable, Sendable {
    /// What happened.
    ///
    /// An open set, because Apple may add events.
    public struct Kind: RawRepresentable, Hashable, Codable, Sendable {
        /// Apple's name of the event, such as `consent-revoked`.
        public let rawValue: String

        /// Creates a kind from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The user stopped using Sign in with Apple for the app: its tokens no longer work.
        public static let consentRevoked = Self(rawValue: "consent-revoked")
        /// The user deleted their Apple Account.
        public static let accountDeleted = Self(rawValue: "account-deleted")
        /// The relay address forwards mail again.
        public static let emailEnabled = Self(rawValue: "email-enabled")
        /// The relay address no longer forwards mail.
        public static let emailDisabled = Self(rawValue: "email-disabled")
    }

    /// What happened.
    public let kind: Kind
    /// The user of the event (`sub`).
    public let userID: String
    /// The client: the primary App ID of its group (`aud`).
    public let clientID: String
    /// When it happened (`event_time`).
    public let occurredAt: Date
    /// When Apple issued the notification (`iat`).
    public let issuedAt: Date
    /// The relay address that the event is about; nil for other events.
    public var email: String?
    /// Whether ``email`` is a relay address; nil if absent.
    public var isPrivateEmail: Bool?
    /// The id of the notification, which Apple may send more than once: `jti`; nil if absent.
    public var id: String?
    /// The event as a JSON object, including members without a property here; see ``decode(_:)``.
    public var json = "{}"

    /// Creates an event, for tests.
    public init(
        _ kind: Kind, userID: String, clientID: String, occurredAt: Date, issuedAt: Date
    ) {
        (self.kind, self.userID, self.clientID) = (kind, userID, clientID)
        (self.occurredAt, self.issuedAt) = (occurredAt, issuedAt)
    }

    init(_ notification: SIWALifecycle.Notification) {
        let event = notification.event
        self.init(
            Kind(rawValue: event.kind.rawValue), userID: event.userID.rawValue,
            clientID: notification.clientID.rawValue, occurredAt: event.occurredAt.date,
            issuedAt: notification.issuedAt.date)
        (email, isPrivateEmail) = (event.email, event.isPrivateEmail)
        id = notification.id
        json = event.text.value.text
    }

    /// Decodes members of one's own from the verified event.
    ///
    /// - Throws: `DecodingError`.
    public func decode<Event: Decodable>(_ type: Event.Type) throws -> Event {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }
}
