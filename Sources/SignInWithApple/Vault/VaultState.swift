/// How far the life of a stored refresh token has come.
public enum VaultState: String, Hashable, Sendable, CaseIterable {
    /// It works, as far as is known.
    case active
    /// Its revocation was begun: written before the request went out. After a crash the same
    /// command ends it.
    case revoking
    /// Apple took its revocation.
    case revoked
    /// Apple refused to refresh it.
    case dead
    /// Apple notified that the user withdrew their consent.
    case consentRevoked = "consent_revoked"
    /// Apple notified that the user deleted their Apple Account.
    case accountDeleted = "account_deleted"
}

/// What happens to a stored token.
public enum VaultEvent: Hashable, Sendable {
    /// A revocation is about to be sent.
    case revocationBegun
    /// Apple took the revocation.
    case revoked
    /// Apple refreshed the token: it works.
    case refreshed
    /// Apple refused to refresh the token (`invalid_grant`).
    case refreshRefused
    /// The user withdrew their consent, at this moment.
    case consentRevoked(at: NumericDate)
    /// The user deleted their Apple Account, at this moment.
    case accountDeleted(at: NumericDate)
}
