import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

/// Where tokens are made that look like Apple's: one good set of claims, of which a test
/// changes what it is about.
enum Forge {
    static let key = try? RSAPrivateKey.generate()
    static let now = Example.now
    static let header: JSON = ["kid": "one", "alg": "RS256"]
    static let claims: JSON = [
        "iss": "https://appleid.apple.com", "aud": "com.example.app",
        "exp": .integer(now.seconds + 600), "iat": .integer(now.seconds),
        "sub": "000001.ab.0001", "nonce": "n-0S6_WzA2Mj",
    ]

    /// The good claims with some replaced, added, or, where nil, left out.
    static func claims(_ changes: KeyValuePairs<String, JSON?>) -> JSON {
        claims.changed(changes)
    }

    /// Signs claims as Apple would.
    static func sign(_ claims: JSON = claims, _ header: JSON = header) throws -> CompactJWS {
        let key = try #require(key)
        return try CompactJWS(
            try CompactJWS.sign(header: header, payload: claims) { try key.signature(for: $0) }
                .revealed())
    }

    /// Signs texts that need not be JSON.
    static func sign(header: String, payload: String) throws -> String {
        let input = "\(Base64URL.encode(header.utf8)).\(Base64URL.encode(payload.utf8))"
        let bytes = Array(input.utf8)
        return try "\(input).\(Base64URL.encode(#require(key).signature(for: bytes.span)))"
    }

    /// Knows the key under the name `one`.
    static func verifier(
        issuers: [String] = [TokenVerifier.appleIssuer], leeway: Duration = .seconds(60)
    ) throws -> TokenVerifier {
        let key = try #require(key)
        let set: JSON = [
            "keys": [
                [
                    "kty": "RSA", "kid": "one", "n": .string(Base64URL.encode(key.modulus)),
                    "e": .string(Base64URL.encode(key.exponent)),
                ]
            ]
        ]
        let keySet = try #require(KeySet(set.bytes))
        return TokenVerifier(
            keySet: keySet,
            audiences: ["com.example.web", "com.example.app", "com.example.Kit"],
            issuers: issuers, leeway: leeway)
    }

    /// Verifies an identity token with these claims.
    static func verify(
        _ claims: JSON = claims, _ binding: TokenBinding = TokenBinding(), at now: NumericDate = now
    ) throws -> IdentityTokenVerification {
        try verifier().verify(identityToken: sign(claims), boundTo: binding, at: now)
    }
}

extension JSON {
    func changed(_ changes: KeyValuePairs<String, JSON?>) -> JSON {
        var members = members ?? []
        for (name, value) in changes {
            let place = members.firstIndex { $0.name == name }
            switch (place, value) {
            case (let place?, let value?): members[place] = Member(name, value)
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
        }
        return .object(members)
    }
}

extension Verification {
    /// The names of the checks that failed.
    var failed: [String] { failures.map(\.name) }

    /// One check by its name.
    func check(_ name: String) -> TokenCheck? { checks.first { $0.name == name } }
}
