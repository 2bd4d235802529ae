/// A secret of one kind, so that a code cannot be used in place of a token.
package protocol Secret: Sendable, CustomStringConvertible {
    /// The secret itself, which is sent to Apple and never shown.
    var text: SecretText { get }
    /// Marks a text as this kind of secret; nothing is checked.
    init(_ text: SecretText)
}

extension Secret {
    /// The fingerprint, never the text.
    package var description: String { text.description }
}

/// The authorization code of a sign-in: valid once, for five minutes.
package struct AuthorizationCode: Secret {
    /// The secret itself, which is sent to Apple and never shown.
    package let text: SecretText
    /// Marks a text as an authorization code.
    package init(_ text: SecretText) { self.text = text }

    /// A text with the shape of a code, which was never issued.
    package static let neverIssued = Self(
        SecretText("c00000000000000000000000000000000.0.mnpq.AAAAAAAAAAAAAAAAAAAAAA"))
}

/// A refresh token: valid until the user or Apple revokes it.
package struct RefreshToken: Secret {
    /// The secret itself, which is sent to Apple and never shown.
    package let text: SecretText
    /// Marks a text as a refresh token.
    package init(_ text: SecretText) { self.text = text }
}

/// An access token: valid for an hour, and only to revoke or to migrate.
package struct AccessToken: Secret {
    /// The secret itself, which is sent to Apple and never shown.
    package let text: SecretText
    /// Marks a text as an access token.
    package init(_ text: SecretText) { self.text = text }
}

/// The code verifier of a PKCE challenge (RFC 7636 §4.1).
package struct CodeVerifier: Secret {
    /// The secret itself, which is sent to Apple and never shown.
    package let text: SecretText
    /// Marks a text as a code verifier.
    package init(_ text: SecretText) { self.text = text }
}
