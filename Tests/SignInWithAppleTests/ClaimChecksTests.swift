import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

/// Tokens that are Apple's by their signature, each wrong in one claim.
@Suite struct ClaimChecksTests {
    static let seconds = Forge.now.seconds
    static let spoiled: [Row<(claims: JSON, check: String)>] = [
        Row("no iss", (Forge.claims(["iss": nil]), "issuer")),
        Row("another iss", (Forge.claims(["iss": "https://evil.example"]), "issuer")),
        Row("a slash after iss", (Forge.claims(["iss": "https://appleid.apple.com/"]), "issuer")),
        Row(
            "iss with a lookalike a", (Forge.claims(["iss": "https://аppleid.apple.com"]), "issuer")
        ),
        Row("iss in http", (Forge.claims(["iss": "http://appleid.apple.com"]), "issuer")),
        Row("iss in capitals", (Forge.claims(["iss": "https://APPLEID.apple.com"]), "issuer")),
        Row("the iss of June 2025", (Forge.claims(["iss": "https://account.apple.com"]), "issuer")),
        Row("iss as an array", (Forge.claims(["iss": ["https://appleid.apple.com"]]), "issuer")),
        Row("no aud", (Forge.claims(["aud": nil]), "audience")),
        Row("another aud", (Forge.claims(["aud": "com.other"]), "audience")),
        Row("aud in capitals", (Forge.claims(["aud": "COM.EXAMPLE.APP"]), "audience")),
        Row(
            "aud with a Kelvin sign", (Forge.claims(["aud": "com.example.\u{212A}it"]), "audience")),
        Row("aud as an array", (Forge.claims(["aud": ["com.example.app"]]), "audience")),
        Row("two auds", (Forge.claims(["aud": ["com.example.app", "x"]]), "audience")),
        Row("an empty aud", (Forge.claims(["aud": ""]), "audience")),
        Row("no exp", (Forge.claims(["exp": nil]), "expiry")),
        Row("exp as a string", (Forge.claims(["exp": "1800000000"]), "expiry")),
        Row("exp as a fraction", (Forge.claims(["exp": .number("1800000000.5")]), "expiry")),
        Row("exp as 1e300", (Forge.claims(["exp": .number("1e300")]), "expiry")),
        Row("exp beyond 64 bits", (Forge.claims(["exp": .number("1" + zeros)]), "expiry")),
        Row("exp beyond every date", (Forge.claims(["exp": .integer(.max)]), "expiry")),
        Row("exp as a boolean", (Forge.claims(["exp": true]), "expiry")),
        Row("exp null", (Forge.claims(["exp": .null]), "expiry")),
        Row("exp as an array", (Forge.claims(["exp": [1_800_000_000]]), "expiry")),
        Row("a negative exp", (Forge.claims(["exp": -5]), "expiry")),
        Row("exp 0", (Forge.claims(["exp": 0]), "expiry")),
        Row("the least exp there is", (Forge.claims(["exp": .integer(.min)]), "expiry")),
        Row("expired with the leeway", (Forge.claims(["exp": .integer(seconds - 60)]), "expiry")),
        Row("no iat", (Forge.claims(["iat": nil]), "issued_at")),
        Row("iat as a string", (Forge.claims(["iat": "0"]), "issued_at")),
        Row("iat beyond the leeway", (Forge.claims(["iat": .integer(seconds + 61)]), "issued_at")),
        Row("the largest iat there is", (Forge.claims(["iat": .integer(.max)]), "issued_at")),
        Row("iat in milliseconds", (Forge.claims(["iat": .integer(seconds * 1000)]), "issued_at")),
        Row("nbf beyond the leeway", (Forge.claims(["nbf": .integer(seconds + 61)]), "not_before")),
        Row("nbf as a string", (Forge.claims(["nbf": .string("\(seconds)")]), "not_before")),
        Row("nbf null", (Forge.claims(["nbf": .null]), "not_before")),
        Row("events besides sub", (Forge.claims(["events": "{}"]), "subject")),
        Row("events null besides sub", (Forge.claims(["events": .null]), "subject")),
        Row("no sub", (Forge.claims(["sub": nil]), "subject")),
        Row("an empty sub", (Forge.claims(["sub": ""]), "subject")),
        Row("sub as a number", (Forge.claims(["sub": 7]), "subject")),
    ]

    private static let zeros = String(repeating: "0", count: 400)

    @Test func `nbf is accepted up to the leeway, and checked only if present`() throws {
        for start in [0, seconds, seconds + 60].map({ JSON.integer($0) }) {
            let result = try Forge.verify(Forge.claims(["nbf": start]))
            #expect(result.isValid && result.checks.contains { $0.subject == .notBefore })
        }
        #expect(try !Forge.verify().checks.contains { $0.subject == .notBefore })
    }

    private var seconds: Int { Self.seconds }

    @Test(arguments: spoiled)
    func `invalid claims are refused with the failed check`(
        _ row: Row<(claims: JSON, check: String)>
    ) throws {
        let result = try Forge.verify(row.value.claims)
        #expect(result.failed == [row.value.check])
        #expect(result.claims == nil && !result.isValid)
        let detail = try #require(result.failures.first?.detail)
        #expect(!detail.isEmpty && detail.count < 300)
    }

    static let tolerated: [Row<JSON>] = [
        Row("nothing changed", Forge.claims),
        Row("expired 59 seconds ago", Forge.claims(["exp": .integer(seconds - 59)])),
        Row("expires in the year 9999", Forge.claims(["exp": .integer(253_402_300_799)])),
        Row("issued in 60 seconds", Forge.claims(["iat": .integer(seconds + 60)])),
        Row("the least iat", Forge.claims(["iat": .integer(.min)])),
        Row("no nonce", Forge.claims(["nonce": nil])),
        Row("another of the audiences", Forge.claims(["aud": "com.example.web"])),
        Row("unknown claims", Forge.claims(["x": ["y": 1], "nfb": "never"])),
    ]

    @Test(arguments: tolerated) func `unusual but valid claims are accepted`(_ row: Row<JSON>)
        throws
    {
        let result = try Forge.verify(row.value)
        #expect(result.isValid && result.failed == [])
    }

    @Test(arguments: [0, 1, 60, 3600])
    func `the leeway applies in both directions, to the second`(_ leeway: Int) throws {
        let verifier = try Forge.verifier(leeway: .seconds(leeway))
        func isValid(_ changes: KeyValuePairs<String, JSON?>) throws -> Bool {
            verifier.verify(identityToken: try Forge.sign(Forge.claims(changes)), at: Forge.now)
                .isValid
        }
        #expect(try isValid(["exp": .integer(Self.seconds - leeway + 1)]))
        #expect(try !isValid(["exp": .integer(Self.seconds - leeway)]))
        #expect(try isValid(["iat": .integer(Self.seconds + leeway)]))
        #expect(try !isValid(["iat": .integer(Self.seconds + leeway + 1)]))
    }

    @Test func `other issuers can be accepted in place of Apple's`() throws {
        let verifier = try Forge.verifier(issuers: ["a", "http://localhost:8080"])
        let local = try Forge.sign(Forge.claims(["iss": "http://localhost:8080"]))
        #expect(verifier.verify(identityToken: local, at: Forge.now).isValid)
        #expect(
            verifier.verify(identityToken: try Forge.sign(), at: Forge.now).failed == ["issuer"])
    }

    @Test func `all faults are reported at once`() throws {
        let claims: JSON = ["iss": "x", "aud": "y", "exp": 1, "iat": .integer(.max), "sub": ""]
        let token = try Forge.sign(claims, ["alg": "RS256", "kid": "two"])
        let result = try Forge.verifier().verify(
            identityToken: token, boundTo: TokenBinding(nonce: SecretText("n")), at: Forge.now)
        #expect(
            result.failed == [
                "key", "issuer", "audience", "expiry", "issued_at", "subject", "nonce",
            ])
    }

    @Test func `an array as audience is reported, and so are the expected audiences`() throws {
        let array = try Forge.verify(Forge.claims(["aud": ["com.example.app"]]))
        #expect(array.check("audience")?.detail?.contains("an array") == true)
        let other = try Forge.verify(Forge.claims(["aud": "com.other"]))
        #expect(
            other.check("audience")?.detail
                == """
                aud is "com.other", expected com.example.web or com.example.app or com.example.Kit
                """)
    }

    @Test func `a detail shows only part of a claim, and no control character`() throws {
        let long = "\u{1B}[2J\n" + String(repeating: "x", count: 10_000)
        let result = try Forge.verify(Forge.claims(["aud": .string(long)]))
        let detail = try #require(result.check("audience")?.detail)
        #expect(detail.count < 300)
        #expect(!detail.contains("\u{1B}") && !detail.contains("\n"))
    }

    static let texts: [Row<String>] = [
        Row("aud twice", #"{"aud":"com.example.app","aud":"com.example.app"}"#),
        Row("a comma at the end", #"{"aud":"com.example.app",}"#),
        Row("something after its end", #"{"aud":"com.example.app"} {}"#),
        Row("a zero byte after its end", "{\"aud\":\"com.example.app\"}\0"),
        Row("no object", #"["com.example.app"]"#),
        Row("a bomb of brackets", String(repeating: "[", count: 30_000)),
        Row("a bomb of objects", String(repeating: #"{"a":"#, count: 5_000)),
        Row("a byte order mark", "\u{FEFF}{}"),
        Row("nothing", ""),
    ]

    @Test(arguments: texts) func `text that is not strict JSON is refused before any check`(
        _ row: Row<String>
    ) throws {
        let header = #"{"kid":"one","alg":"RS256"}"#
        let asClaims = try Forge.sign(header: header, payload: row.value)
        #expect(throws: CompactJWSError.self) { try CompactJWS(asClaims) }
        let asHeader = try Forge.sign(header: row.value, payload: "{}")
        #expect(throws: CompactJWSError.self) { try CompactJWS(asHeader) }
    }
}
