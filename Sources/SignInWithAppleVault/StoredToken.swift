public import FoundationEssentials
internal import Lifecycle
internal import SignInWithApple

/// A refresh token in the vault. The token itself is encrypted: see
/// ``TokenVault/refreshToken(of:)``.
public struct StoredToken: Sendable {
    /// The state of a token.
    public enum State: String, Sendable, CaseIterable {
        /// As far as known, it works.
        case active
        /// Apple refused to refresh it.
        case dead
        /// The user stopped using Sign in with Apple for the app.
        case consentRevoked = "consent_revoked"
        /// The user deleted their Apple Account.
        case accountDeleted = "account_deleted"
        /// A revocation was begun and its outcome is unknown: revoke it again.
        case revoking
        /// Apple accepted the revocation.
        case revoked
    }

    let record: VaultRecord

    init(_ record: VaultRecord) { self.record = record }

    /// The user: the `sub` of the identity token that was issued with it.
    public var userID: String { record.user.userID.rawValue }
    /// The client that it was issued to.
    public var clientID: String { record.user.clientID.rawValue }
    /// The first 12 hexadecimal digits of its SHA-256, which identify it in logs; nil for a record
    /// of siwa 0.1.
    public var fingerprint: String? { record.id.fingerprint?.rawValue }
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
