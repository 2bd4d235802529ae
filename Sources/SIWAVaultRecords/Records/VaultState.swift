package import SIWAJOSE
internal import SIWALifecycle

/// The state of a stored refresh token, as far as known.
package enum VaultState: String, Hashable, Sendable, CaseIterable {
    /// The token works.
    case active
    /// A revocation was begun; this is written before the request is sent. After a crash, running
    /// the same command again finishes the revocation.
    case revoking
    /// Apple accepted the revocation.
    case revoked
    /// Apple refused to refresh the token.
    case dead
    /// Apple sent a notification that the user withdrew their consent.
    case consentRevoked = "consent_revoked"
    /// Apple sent a notification that the user deleted their Apple Account.
    case accountDeleted = "account_deleted"
}

/// An event of a stored token.
package enum VaultEvent: Hashable, Sendable {
    /// Apple has just issued the token.
    case issued
    /// A revocation is about to be sent.
    case revocationBegun
    /// Apple accepted the revocation.
    case revoked
    /// Apple refreshed the token: it works.
    case refreshed
    /// Apple refused to refresh the token (`invalid_grant`).
    case refreshRefused
    /// The user withdrew their consent at this moment.
    case consentRevoked(at: NumericDate)
    /// The user deleted their Apple Account at this moment.
    case accountDeleted(at: NumericDate)
}
