package import SIWACrypto

/// What a text is by its shape and by what it says of itself. Nothing is verified.
package struct Recognition: Sendable {
    /// The kinds that people have at hand when they debug a sign-in.
    package enum Kind: String, Sendable, CaseIterable {
        /// A JWT that a developer's key signed for Apple's token endpoint.
        case clientSecret = "client_secret"
        /// A JWT of Apple's that says who signed in.
        case identityToken = "identity_token"
        /// A JWT of Apple's that says what a user did, or the body that carries it.
        case notification
        /// A JWT, or something else, that no part of Sign in with Apple takes.
        case other
        /// A JWE: five parts, encrypted.
        case encryptedToken = "encrypted_token"
        /// What a sign-in yields.
        case authorizationCode = "authorization_code"
        /// What keeps a session alive.
        case refreshToken = "refresh_token"
        /// What an hour of revoking or migrating takes.
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

    /// Its kind.
    package let kind: Kind
    /// What it is, with an article.
    package let name: String
    /// The public half, when it is a private key on P-256.
    package let publicKey: P256PublicKey?

    init(_ kind: Kind, _ name: String, publicKey: P256PublicKey? = nil) {
        self.kind = kind
        self.name = name
        self.publicKey = publicKey
    }
}
