import SIWACrypto
import SignInWithApple
import Testing

/// The token that Apple signed on 5 June 2019, judged at a moment of its ten minutes.
@Suite struct AppleIdentityTokenTests {
    static let token = vector("identity-token-2019-06.jwt").filter { $0 > 0x20 }
    static let moment = NumericDate(1_559_709_500)
    static let verifier = KeySet(vector("jwks-2019-2022.json")).map {
        IdentityTokenVerifier(keySet: $0, audiences: ["jp.yauth.signin.service2"])
    }

    static func verify(
        _ token: [UInt8], at now: NumericDate = moment
    ) throws -> IdentityTokenVerification {
        try #require(verifier).verify(SecretText(SecretBytes(token)), boundTo: .init(), at: now)
    }

    @Test func `is valid at its time`() throws {
        let result = try Self.verify(Self.token)
        #expect(result.isValid)
        #expect(result.userID?.rawValue == "000723.25da8be332964991898630947202fef0.0402")
        #expect(
            result.checks.map(\.name) == [
                "format", "algorithm", "key", "signature", "issuer", "audience", "expiry",
                "issued_at", "subject", "nonce", "at_hash",
            ])
        let skipped = result.checks.filter { $0.status == .skipped }.map(\.name)
        #expect(skipped == ["nonce", "at_hash"])
    }

    @Test func `has expired today, and nothing else is wrong`() throws {
        let result = try Self.verify(Self.token, at: Example.now)
        #expect(!result.isValid)
        #expect(result.userID == nil)
        #expect(result.checks.filter { $0.status == .failed }.map(\.name) == ["expiry"])
    }

    @Test func `no bit of it can change`() throws {
        for place in Self.token.indices {
            for bit in 0..<8 {
                var spoiled = Self.token
                spoiled[place] ^= 1 << UInt8(bit)
                guard try !Self.verify(spoiled).isValid else {
                    Issue.record("byte \(place), bit \(bit)")
                    return
                }
            }
        }
    }

    @Test func `no character can be missing`() throws {
        for place in Self.token.indices {
            var spoiled = Self.token
            spoiled.remove(at: place)
            #expect(try !Self.verify(spoiled).isValid, "without \(place)")
            #expect(
                try !Self.verify(Array(Self.token.prefix(place))).isValid, "\(place) characters")
        }
    }
}

@Suite struct IdentityTokenVerifierTests {
    static let key = try? RSAPrivateKey.generate()
    static let now = Example.now
    static let good: [(String, JSON)] = [
        ("iss", "https://appleid.apple.com"), ("aud", "com.example.app"),
        ("exp", .integer(now.seconds + 600)), ("iat", .integer(now.seconds)),
        ("sub", "000001.ab.0001"),
        ("nonce", "n-0S6_WzA2Mj"),
    ]

    static func claims(_ changes: [String: JSON?] = [:]) -> JSON {
        .object(
            good.compactMap { name, value in (changes[name] ?? value).map { JSON.Member(name, $0) }
            })
    }

    static func token(
        _ claims: JSON, header: JSON = ["kid": "one", "alg": "RS256"]
    ) throws -> SecretText {
        let key = try #require(key)
        return SecretText(
            try CompactJWS.sign(header: header, payload: claims) { try key.signature(for: $0) })
    }

    static func verify(
        _ token: SecretText, _ binding: IdentityTokenVerifier.Binding = .init(),
        issuers: [String] = ["https://appleid.apple.com"], at now: NumericDate = now
    ) throws -> IdentityTokenVerification {
        let key = try #require(key)
        let body: JSON = [
            "keys": [
                [
                    "kty": "RSA", "kid": "one", "n": .string(Base64URL.encode(key.modulus)),
                    "e": .string(Base64URL.encode(key.exponent)),
                ]
            ]
        ]
        let set = try #require(KeySet(body.bytes))
        let verifier = IdentityTokenVerifier(
            keySet: set, audiences: ["com.example.web", "com.example.app", "com.example.Kit"],
            issuers: issuers)
        return verifier.verify(token, boundTo: binding, at: now)
    }

    static func failures(_ result: IdentityTokenVerification) -> [String] {
        result.checks.filter { $0.status == .failed }.map(\.name)
    }

    @Test func `accepts an untouched token`() throws {
        let result = try Self.verify(Self.token(Self.claims()))
        #expect(result.isValid)
        #expect(result.userID == UserID(unchecked: "000001.ab.0001"))
    }

    static let spoiled: [Row<(JSON, String)>] = [
        Row("no iss", (claims(["iss": nil]), "issuer")),
        Row("another iss", (claims(["iss": "https://evil.example"]), "issuer")),
        Row("a slash behind iss", (claims(["iss": "https://appleid.apple.com/"]), "issuer")),
        Row("iss as an array", (claims(["iss": ["https://appleid.apple.com"]]), "issuer")),
        Row("no aud", (claims(["aud": nil]), "audience")),
        Row("another aud", (claims(["aud": "com.other"]), "audience")),
        Row("aud in capitals", (claims(["aud": "COM.EXAMPLE.APP"]), "audience")),
        Row("aud with a Kelvin sign", (claims(["aud": "com.example.\u{212A}it"]), "audience")),
        Row("aud as an array", (claims(["aud": ["com.example.app"]]), "audience")),
        Row("no exp", (claims(["exp": nil]), "expiry")),
        Row("exp as a string", (claims(["exp": "1800000000"]), "expiry")),
        Row("exp as a fraction", (claims(["exp": .number("1800000000.5")]), "expiry")),
        Row("exp as 1e300", (claims(["exp": .number("1e300")]), "expiry")),
        Row("expired with the leeway", (claims(["exp": .integer(now.seconds - 60)]), "expiry")),
        Row("the least exp there is", (claims(["exp": .integer(.min)]), "expiry")),
        Row("exp = 0", (claims(["exp": 0]), "expiry")),
        Row("no iat", (claims(["iat": nil]), "issued_at")),
        Row("iat as a string", (claims(["iat": "0"]), "issued_at")),
        Row("issued beyond the leeway", (claims(["iat": .integer(now.seconds + 61)]), "issued_at")),
        Row("the largest iat there is", (claims(["iat": .integer(.max)]), "issued_at")),
        Row("iat in milliseconds", (claims(["iat": .integer(now.seconds * 1000)]), "issued_at")),
        Row("no sub", (claims(["sub": nil]), "subject")),
        Row("an empty sub", (claims(["sub": ""]), "subject")),
        Row("sub as a number", (claims(["sub": 7]), "subject")),
    ]

    @Test(arguments: spoiled) func `rejects`(_ row: Row<(JSON, String)>) throws {
        let result = try Self.verify(Self.token(row.value.0))
        #expect(Self.failures(result) == [row.value.1])
        #expect(result.userID == nil)
        #expect(result.checks.first { $0.status == .failed }?.detail?.isEmpty == false)
    }

    static let tolerated: [Row<JSON>] = [
        Row("expired 59 seconds ago", claims(["exp": .integer(now.seconds - 59)])),
        Row("never expires", claims(["exp": .integer(.max)])),
        Row("issued in 60 seconds", claims(["iat": .integer(now.seconds + 60)])),
        Row("the least iat", claims(["iat": .integer(.min)])),
        Row("no nonce", claims(["nonce": nil])),
    ]

    @Test(arguments: tolerated) func `accepts`(_ row: Row<JSON>) throws {
        #expect(try Self.verify(Self.token(row.value)).isValid)
    }

    static let headers: [Row<(JSON, String)>] = [
        Row("alg none", (["kid": "one", "alg": "none"], "algorithm")),
        Row("no alg", (["kid": "one"], "algorithm")),
        Row("alg null", (["kid": "one", "alg": .null], "algorithm")),
        Row("HS256", (["kid": "one", "alg": "HS256"], "algorithm")),
        Row("RS512", (["kid": "one", "alg": "RS512"], "algorithm")),
        Row("PS256", (["kid": "one", "alg": "PS256"], "algorithm")),
        Row("ES256", (["kid": "one", "alg": "ES256"], "algorithm")),
        Row("rs256", (["kid": "one", "alg": "rs256"], "algorithm")),
        Row("crit", (["kid": "one", "alg": "RS256", "crit": ["b64"], "b64": true], "algorithm")),
        Row("an empty crit", (["kid": "one", "alg": "RS256", "crit": []], "algorithm")),
        Row("no kid", (["alg": "RS256"], "key")),
        Row("an unknown kid", (["kid": "two", "alg": "RS256"], "key")),
        Row("a kid that is a number", (["kid": 1, "alg": "RS256"], "key")),
        Row(
            "a key of its own, and an unknown kid",
            (
                ["kid": "x", "alg": "RS256", "jwk": ["kty": "RSA"], "jku": "https://evil.example"],
                "key"
            )),
    ]

    @Test(arguments: headers) func `rejects the header`(_ row: Row<(JSON, String)>) throws {
        let result = try Self.verify(Self.token(Self.claims(), header: row.value.0))
        #expect(Self.failures(result) == [row.value.1])
        #expect(result.checks.first { $0.name == "signature" }?.status == .skipped)
    }

    @Test func `rejects a token without a signature`() throws {
        let signed = try Self.token(Self.claims()).revealed()
        let unsigned = signed.prefix { $0 != "." } + "." + signed.split(separator: ".")[1] + "."
        #expect(try Self.failures(Self.verify(SecretText(String(unsigned)))) == ["signature"])
        let none = Base64URL.encode(Array(#"{"alg":"none","kid":"one"}"#.utf8))
        let stripped = "\(none).\(signed.split(separator: ".")[1])."
        #expect(try Self.failures(Self.verify(SecretText(stripped))) == ["algorithm"])
    }

    @Test func `rejects an HMAC under the public key`() throws {
        // What a confused verifier would accept: any 32 bytes, as long as alg says HS256.
        let header = Base64URL.encode(Array(#"{"alg":"HS256","kid":"one"}"#.utf8))
        let payload = Base64URL.encode(Self.claims().bytes)
        let mac = Base64URL.encode([UInt8](repeating: 7, count: 32))
        let token = SecretText("\(header).\(payload).\(mac)")
        #expect(try Self.failures(Self.verify(token)) == ["algorithm"])
    }

    @Test(arguments: ["", "a", "a.b", "a.b.c", "eyJ", "e30.e30.", "..", "r.1.abc"])
    func `says at once when it is no token`(_ text: String) throws {
        let result = try Self.verify(SecretText(text))
        #expect(!result.isValid && result.userID == nil)
        if text != "e30.e30." {
            #expect(Self.failures(result) == ["format"] && result.payload == nil)
        }
    }

    @Test func `shows all that is wrong at once`() throws {
        let claims: JSON = ["iss": "x", "aud": "y", "exp": 1, "iat": .integer(.max), "sub": ""]
        let result = try Self.verify(Self.token(claims, header: ["alg": "RS256", "kid": "two"]))
        #expect(
            Self.failures(result) == [
                "key", "issuer", "audience", "expiry", "issued_at", "subject",
            ])
    }

    @Test func `other issuers can be accepted`() throws {
        let token = try Self.token(Self.claims(["iss": "http://localhost:8080"]))
        #expect(try Self.verify(token, issuers: ["a", "http://localhost:8080"]).isValid)
        #expect(try !Self.verify(token).isValid)
    }

    static let nonces: [Row<(String, Bool)>] = [
        Row("as it was given", ("raw-nonce", true)),
        Row("hexadecimal", ("a9b2b2ba7b0a1b9cbb2f5d2ec3c2ba1b", false)),
        Row("its hash in hexadecimal", ((try? SHA256.digest("raw-nonce").hexadecimal) ?? "", true)),
        Row(
            "its hash in base64url",
            ((try? Base64URL.encode(SHA256.digest("raw-nonce"))) ?? "", true)),
        Row(
            "its hash, padded",
            ((try? Base64URL.encode(SHA256.digest("raw-nonce")) + "=") ?? "", false)),
        Row("another", ("raw-nonce2", false)), Row("nothing", ("", false)),
        Row("shorter", ("raw-nonc", false)),
    ]

    @Test(arguments: nonces) func `a nonce`(_ row: Row<(String, Bool)>) throws {
        let token = try Self.token(Self.claims(["nonce": .string(row.value.0)]))
        let result = try Self.verify(token, .init(nonce: SecretText("raw-nonce")))
        #expect(result.isValid == row.value.1)
        #expect(Self.failures(result) == (row.value.1 ? [] : ["nonce"]))
    }

    @Test func `a nonce that is missing or no text fails`() throws {
        for value in [nil, 7, .null, ["raw-nonce"]] as [JSON?] {
            let token = try Self.token(Self.claims(["nonce": value]))
            let result = try Self.verify(token, .init(nonce: SecretText("raw-nonce")))
            #expect(Self.failures(result) == ["nonce"])
        }
    }

    @Test func `a nonce is never compared by its looks`() throws {
        let token = try Self.token(Self.claims(["nonce": "\u{212A}"]))
        #expect(try !Self.verify(token, .init(nonce: SecretText("K"))).isValid)
    }

    @Test func `at_hash binds the access token`() throws {
        let access = AccessToken(SecretText("a.1"))
        let hash = try Base64URL.encode(SHA256.digest("a.1").prefix(16))
        var claims = Self.good
        claims.append(("at_hash", .string(hash)))
        let token = try Self.token(.object(claims.map { JSON.Member($0.0, $0.1) }))
        let right = try Self.verify(token, .init(accessToken: access))
        #expect(right.checks.last == right.checks.last { $0.name == "at_hash" })
        #expect(right.checks.last?.status == .passed)
        let wrong = try Self.verify(token, .init(accessToken: AccessToken(SecretText("a.2"))))
        #expect(Self.failures(wrong) == ["at_hash"])
        let absent = try Self.verify(Self.token(Self.claims()), .init(accessToken: access))
        #expect(absent.isValid && absent.checks.last?.status == .skipped)
    }

    @Test func `a failed check shows at most a piece of a claim, and no control character`() throws
    {
        let long = "\u{1B}[2J\n" + String(repeating: "x", count: 10_000)
        let result = try Self.verify(Self.token(Self.claims(["aud": .string(long)])))
        let detail = try #require(result.checks.first { $0.name == "audience" }?.detail)
        #expect(detail.count < 300)
        #expect(!detail.contains("\u{1B}") && !detail.contains("\n"))
    }
}
