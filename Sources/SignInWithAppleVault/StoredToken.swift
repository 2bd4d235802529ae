public import FoundationEssentials
internal import SIWALifecycle
internal import SIWAVaultRecords
internal import SignInWithApple

/// A refresh token in the vault, without the token itself: see ``TokenVault/refreshToken(of:)``.
public struct StoredToken: Hashable, Sendable {
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

    /// The user: the `sub` of the identity token that was issued with it.
    public let userID: String
    /// The client that it was issued to.
    public let clientID: String
    /// The first 12 hexadecimal digits of its SHA-256, which identify it in logs.
    public let fingerprint: String
    /// The state of the token.
    public let state: State
    /// When it was stored.
    public let storedAt: Date
    /// When its state last changed.
    public let changedAt: Date
    /// When Apple last answered a refresh of it; nil if never.
    public let checkedAt: Date?

    /// Creates a stored token, for tests.
    public init(
        userID: String, clientID: String, fingerprint: String, state: State = .active,
        storedAt: Date, changedAt: Date, checkedAt: Date? = nil
    ) {
        (self.userID, self.clientID, self.fingerprint) = (userID, clientID, fingerprint)
        (self.state, self.storedAt) = (state, storedAt)
        (self.changedAt, self.checkedAt) = (changedAt, checkedAt)
    }

    init(_ record: VaultRecord) {
        self.init(
            userID: record.user.userID.rawValue, clientID: record.user.clientID.rawValue,
            fingerprint: record.id.fingerprint.rawValue, state: State(record.state),
            storedAt: record.storedAt.date, changedAt: record.changedAt.date,
            checkedAt: record.checkedAt?.date)
    }

    /// The position of its row.
    var rowKey: VaultRowKey {
        VaultRowKey(
            clientID: Array(clientID.utf8), userID: Array(userID.utf8),
            fingerprint: Array(fingerprint.utf8))
    }
}

extension StoredToken.State {
    fileprivate init(_ state: VaultState) {
        self =
            switch state {
            case .active: .active
            case .dead: .dead
            case .consentRevoked: .consentRevoked
            case .accountDeleted: .accountDeleted
            case .revoking: .revoking
            case .revoked: .revoked
            }
    }
}

extension StoredToken: CustomStringConvertible {
    /// The id of the token, and its state.
    public var description: String {
        "token \(fingerprint) of '\(userID)' of \(clientID): \(state.rawValue)"
    }
}
