package import SIWACrypto

/// The kind of a text, by its shape and its own claims. Nothing is verified.
package struct Recognition: Sendable {
    /// The kinds of texts that developers have when they debug a sign-in.
    package enum Kind: String, Sendable, CaseIterable {
        /// A JWT that a developer's key signed for Apple's token endpoint.
        case clientSecret = "client_secret"
        /// Apple's JWT that identifies the user who signed in.
        case identityToken = "identity_token"
        /// Apple's JWT that reports an action of a user, or the body that contains it.
        case notification
        /// A JWT or another text that Sign in with Apple does not use.
        case other
        /// A JWE: five parts, encrypted.
        case encryptedToken = "encrypted_token"
        /// The code that a sign-in returns.
        case authorizationCode = "authorization_code"
        /// The token that is refreshed.
        case refreshToken = "refresh_token"
        /// A token for revocation or migration, valid for an hour.
        case accessToken = "access_token"
        /// An answer of the token endpoint.
        case tokenResponse = "token_response"
        /// An OAuth error.
        case errorResponse = "error_response"
        /// A private key, such as a `.p8`.
        case privateKey = "private_key"
        /// A public key.
        case publicKey = "public_key"
        /// An X.509 certificate.
        case certificate
        /// A JWK Set.
        case keySet = "key_set"
        /// A configuration of siwa.
        case configuration
    }

    /// What the text is, by its shape.
    package let kind: Kind
    /// What it is, with an article.
    package let name: String
    /// The public key of a private key on P-256; nil for other texts.
    package let publicKey: P256PublicKey?

    init(_ kind: Kind, _ name: String, publicKey: P256PublicKey? = nil) {
        self.kind = kind
        self.name = name
        self.publicKey = publicKey
    }
}
