package import JOSE

/// What the holder of a token may do.
package enum APIScope: String, Hashable, Sendable, CaseIterable {
    case exchange, refresh, revoke, verify, secret, read, reveal
}

/// A token of the API, as the server stores it.
package struct APIToken: Hashable, Sendable {
    /// The name that the operator gave it.
    package let name: String
    /// The SHA-256 of the token: 32 bytes.
    package let digest: [UInt8]
    /// What its holder may do.
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
