public import SIWACrypto

/// A secret text: kept in memory that is overwritten, shown as a fingerprint.
public struct SecretText: Sendable, CustomStringConvertible, CustomReflectable {
    /// The text's UTF-8.
    public let bytes: SecretBytes

    /// Takes bytes over.
    public init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// Copies a text; the original is the caller's care.
    public init(_ text: String) { bytes = SecretBytes(text.utf8) }

    /// The first 12 hexadecimal digits of its SHA-256: enough to recognise, not to use.
    public var fingerprint: String {
        // Only a site policy without SHA-256 fails here, and then nothing can be minted either.
        guard let digest = try? bytes.withSpan(SHA256.digest) else { return "(no SHA-256)" }
        return digest.prefix(6).hexadecimal
    }

    /// The fingerprint, never the text.
    public var description: String { "sha256:\(fingerprint)" }

    /// Keeps `dump` and `print` of what contains a secret from printing it.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The text itself, for what leaves the program.
    public func revealed() -> String { String(decoding: bytes.revealed(), as: UTF8.self) }

    /// Whether the text begins with `prefix`.
    public func hasPrefix(_ prefix: StaticString) -> Bool {
        let prefix = Array("\(prefix)".utf8)
        return bytes.withSpan { bytes in
            bytes.count >= prefix.count && prefix.indices.allSatisfy { bytes[$0] == prefix[$0] }
        }
    }
}

/// A secret of one particular kind, so that a code cannot stand where a token must.
public protocol Secret: Sendable, CustomStringConvertible {
    /// The text.
    var text: SecretText { get }
    /// Marks a text as this kind of secret; nothing is checked.
    init(_ text: SecretText)
}

extension Secret {
    /// The fingerprint, never the text.
    public var description: String { text.description }
}

/// What an app's sign-in yields: single use, five minutes.
public struct AuthorizationCode: Secret {
    /// The text.
    public let text: SecretText
    /// Marks a text as an authorization code.
    public init(_ text: SecretText) { self.text = text }
}

/// What keeps a session alive until the user or Apple ends it.
public struct RefreshToken: Secret {
    /// The text.
    public let text: SecretText
    /// Marks a text as a refresh token.
    public init(_ text: SecretText) { self.text = text }
}

/// Good for an hour, and only to revoke or to migrate.
public struct AccessToken: Secret {
    /// The text.
    public let text: SecretText
    /// Marks a text as an access token.
    public init(_ text: SecretText) { self.text = text }
}

/// The other half of a PKCE challenge (RFC 7636 §4.1).
public struct CodeVerifier: Secret {
    /// The text.
    public let text: SecretText
    /// Marks a text as a code verifier.
    public init(_ text: SecretText) { self.text = text }
}
