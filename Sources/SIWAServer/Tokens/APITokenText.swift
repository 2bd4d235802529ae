import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords

/// The text of an API token: `siwa_` and 32 random bytes in base64url.
struct APITokenText: Sendable {
    /// `siwa_` and 43 characters; a secret.
    let text: SecretText

    private static let prefix = "siwa_"

    /// Creates a random token.
    ///
    /// - Throws: ``OpenSSLError`` if the system provides no entropy.
    static func random() throws(OpenSSLError) -> Self {
        Self(text: SecretText(prefix + Base64URL.encode(try Random.bytes(32))))
    }

    /// The record of the token for the database, with its digest only.
    func token(
        _ name: String, scopes: Set<APIScope>, at now: NumericDate, expiresAt: NumericDate?
    ) throws(OpenSSLError) -> APIToken {
        APIToken(
            name: name, digest: try Self.digest(of: text), scopes: scopes, createdAt: now,
            expiresAt: expiresAt)
    }

    /// The SHA-256 of a token.
    static func digest(of text: SecretText) throws(OpenSSLError) -> [UInt8] {
        try text.bytes.withSpan(SHA256.digest)
    }

    /// The bearer token in an `Authorization` field; nil without one.
    static func bearer(_ field: String?) -> SecretText? {
        guard let field else { return nil }
        let scheme = field.utf8.prefix { $0 != UInt8(ascii: " ") }
        let token = field.utf8.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
        let isBearer = scheme.elementsEqual("bearer".utf8) { $0 | 0x20 == $1 }
        guard isBearer, !token.isEmpty else { return nil }
        return SecretText(String(Substring(token)))
    }
}
