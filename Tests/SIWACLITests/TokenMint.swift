import SIWACrypto
import SIWAJOSE

/// Creates identity tokens of 2027-01-15T08:00:00Z like Apple's, except for the changes of a
/// scenario.
struct TokenMint: Sendable {
    private let key: RSAPrivateKey

    init() throws { key = try RSAPrivateKey.generate() }

    /// The JWK Set with the one key, `one`.
    var keySet: JSON {
        [
            "keys": [
                [
                    "kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256",
                    "n": .string(Base64URL.encode(key.modulus)),
                    "e": .string(Base64URL.encode(key.exponent)),
                ]
            ]
        ]
    }

    /// Signs a token; null takes a member away.
    func sign(claims: JSON, header: JSON) throws -> String {
        let goodClaims: JSON = [
            "iss": "https://appleid.apple.com", "aud": "com.example.app", "exp": 1_800_000_600,
            "iat": 1_800_000_000, "sub": "001234.0123456789abcdef.0830",
        ]
        let token = try CompactJWS.sign(
            header: Self.change(["kid": "one", "alg": "RS256"], header),
            payload: Self.change(goodClaims, claims)
        ) { try key.signature(for: $0) }
        return String(decoding: token.revealed(), as: UTF8.self)
    }

    private static func change(_ good: JSON, _ changes: JSON) -> JSON {
        let names = Set(changes.members?.map(\.name) ?? [])
        let kept = good.members?.filter { !names.contains($0.name) } ?? []
        return .object(kept + (changes.members?.filter { $0.value != .null } ?? []))
    }
}
