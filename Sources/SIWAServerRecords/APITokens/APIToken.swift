package import SIWAJOSE
package import SIWALifecycle
internal import SIWAVaultRecords

/// A permission of the holder of a token.
package enum APIScope: String, Hashable, Sendable, CaseIterable {
    case exchange, refresh, revoke, verify, secret, read, erase, reveal
}

/// The tokens of the API, and the damaged rows among them.
package struct APITokenPage: Hashable, Sendable {
    /// The readable tokens, by name.
    package var tokens: [APIToken] = []
    /// The errors of unreadable rows, which grant no access.
    package var damaged: [StoreError] = []

    /// No tokens.
    package init() {}
}

/// A token of the API, as the server stores it.
package struct APIToken: Hashable, Sendable {
    /// The name that the operator gave it.
    package let name: String
    /// The SHA-256 of the token: 32 bytes.
    package let digest: [UInt8]
    /// The permissions of its holder.
    package let scopes: Set<APIScope>
    /// When it was created.
    package let createdAt: NumericDate
    /// When it expires; nil for never.
    package let expiresAt: NumericDate?

    /// Creates a token.
    package init(
        name: String, digest: [UInt8], scopes: Set<APIScope>, createdAt: NumericDate,
        expiresAt: NumericDate?
    ) {
        (self.name, self.digest, self.scopes) = (name, digest, scopes)
        (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
    }
}
