public import FoundationEssentials
internal import SIWALifecycle
internal import SIWAVaultRecords
internal import SignInWithApple

/// A refresh token in the vault. The token itself is encrypted: see
/// ``TokenVault/refreshToken(of:)``.
public struct StoredToken: Sendable {
    /// The state of a token. An open set: later versions may add states.
    public struct State: RawRepresentable, Hashable, Codable, Sendable {
        /// The name in snake_case, as `siwa vault list` prints it.
        public let rawValue: String

        /// Creates a state from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// As far as known, it works.
        public static let active = Self(rawValue: "active")
        /// Apple refused to refresh it.
        public static let dead = Self(rawValue: "dead")
        /// The user stopped using Sign in with Apple for the app.
        public static let consentRevoked = Self(rawValue: "consent_revoked")
        /// The user deleted their Apple Account.
        public static let accountDeleted = Self(rawValue: "account_deleted")
        /// A revocation was begun and its outcome is unknown: revoke it again.
        public static let revoking = Self(rawValue: "revoking")
        /// Apple accepted the revocation.
        public static let revoked = Self(rawValue: "revoked")
    }

    let record: VaultRecord

    init(_ record: VaultRecord) { self.record = record }

    /// The user: the `sub` of the identity token that was issued with it.
    public var userID: String { record.user.userID.rawValue }
    /// The client that it was issued to.
    public var clientID: String { record.user.clientID.rawValue }
    /// The first 12 hexadecimal digits of its SHA-256, which identify it in logs.
    public var fingerprint: String { record.id.fingerprint.rawValue }
    /// When it was stored.
    public var storedAt: Date { record.storedAt.date }
    /// When its state last changed.
    public var changedAt: Date { record.changedAt.date }
    /// When Apple last answered a refresh of it; nil if never.
    public var checkedAt: Date? { record.checkedAt?.date }

    /// The state of the token.
    public var state: State {
        switch record.state {
        case .active: .active
        case .dead: .dead
        case .consentRevoked: .consentRevoked
        case .accountDeleted: .accountDeleted
        case .revoking: .revoking
        case .revoked: .revoked
        }
    }
}

extension StoredToken: CustomStringConvertible, CustomReflectable {
    /// The id of the token, and its state.
    public var description: String { "\(record.id): \(record.state.rawValue)" }

    /// Keeps `dump` from showing the encrypted token.
    public var customMirror: Mirror {
        Mirror(self, children: ["id": "\(record.id)", "state": record.state.rawValue])
    }
}
