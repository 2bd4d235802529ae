internal import SIWACrypto
internal import SignInWithApple

/// The keys with which the emulated Apple signs identity tokens: three are published,
/// one of them signs, as with Apple most of the time.
public struct EmulatorKeys: Sendable {
    struct Entry: Sendable {
        let keyID: String
        let key: RSAPrivateKey
    }

    /// Every published key.
    let entries: [Entry]
    /// The one that signs.
    let signing: Entry

    private init(_ keys: [RSAPrivateKey], signing first: RSAPrivateKey) {
        let entry = Self.named(first)
        signing = entry
        entries = [entry] + keys.map(Self.named)
    }

    /// New keys. Finding six primes takes a moment: tests share one set.
    public static func generate() async throws -> EmulatorKeys {
        async let second = RSAPrivateKey.generate()
        async let third = RSAPrivateKey.generate()
        let first = try RSAPrivateKey.generate()
        return EmulatorKeys([try await second, try await third], signing: first)
    }

    /// The JWK Set, in another order each time: a client must choose by `kid`.
    func document() -> JSON {
        ["keys": .array(entries.shuffled().map(\.json))]
    }

    /// Signs claims under Apple's header, which has two members and no `typ`.
    func token(_ claims: JSON) throws(OpenSSLError) -> String {
        let header: JSON = ["kid": .string(signing.keyID), "alg": "RS256"]
        let token = try CompactJWS.sign(header: header, payload: claims) {
            bytes throws(OpenSSLError) in
            try signing.key.signature(for: bytes)
        }
        return SecretText(token).revealed()
    }

    /// Gives a key ten characters, as Apple has since 2024.
    private static func named(_ key: RSAPrivateKey) -> Entry {
        Entry(keyID: Fresh.text(10, of: Fresh.alphanumeric), key: key)
    }
}

extension EmulatorKeys.Entry {
    fileprivate var json: JSON {
        [
            "kty": "RSA", "kid": .string(keyID), "use": "sig", "alg": "RS256",
            "n": .string(Base64URL.encode(key.modulus)),
            "e": .string(Base64URL.encode(key.exponent)),
        ]
    }
}
