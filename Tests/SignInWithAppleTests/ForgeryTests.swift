import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

/// Forged tokens that a verifier would accept if it trusted the header.
@Suite struct ForgeryTests {
    static let file = (try? JSON(vector("forgeries.json"))) ?? [:]
    static let forgeries: [Row<(token: String, check: String)>] =
        (file["forgeries"]?.elements ?? []).compactMap { row in
            guard let name = row["name"]?.string, let token = row["token"]?.string,
                let check = row["fails"]?.string
            else { return nil }
            return Row(name, (token, check))
        }

    private func verify(_ token: String) throws -> IdentityTokenVerification {
        let set = try #require(Self.file["jwks"].flatMap { KeySet($0.bytes) })
        return TokenVerifier(keySet: set, audiences: ["com.example.app"])
            .verify(identityToken: try CompactJWS(token), at: NumericDate(1_800_000_000))
    }

    @Test func `the original token is valid, and the list of forgeries is complete`() throws {
        #expect(try verify(#require(Self.file["genuine"]?.string)).isValid)
        #expect(Self.forgeries.count == 38)
    }

    @Test(arguments: forgeries)
    func `forged tokens are refused with the failed check`(
        _ row: Row<(token: String, check: String)>
    ) throws {
        let result = try verify(row.value.token)
        #expect(result.failed == [row.value.check])
        #expect(result.claims == nil)
        #expect(result.failures.first?.detail?.isEmpty == false)
        #expect(result.token?.payload["sub"] != nil, "its claims can still be shown")
    }

    static let headers: [Row<(header: JSON, check: String)>] = [
        Row("no alg", (["kid": "one"], "algorithm")),
        Row("alg null", (["kid": "one", "alg": .null], "algorithm")),
        Row("alg as an array", (["kid": "one", "alg": ["RS256"]], "algorithm")),
        Row("rs256", (["kid": "one", "alg": "rs256"], "algorithm")),
        Row("a space after RS256", (["kid": "one", "alg": "RS256 "], "algorithm")),
        Row("crit", (["kid": "one", "alg": "RS256", "crit": ["b64"], "b64": true], "algorithm")),
        Row("an empty crit", (["kid": "one", "alg": "RS256", "crit": []], "algorithm")),
        Row("no kid", (["alg": "RS256"], "key")),
        Row("an empty kid", (["kid": "", "alg": "RS256"], "key")),
        Row("kid null", (["kid": .null, "alg": "RS256"], "key")),
        Row("a kid that is a number", (["kid": 1, "alg": "RS256"], "key")),
        Row("a kid that is an array", (["kid": ["one"], "alg": "RS256"], "key")),
        Row("an unknown kid", (["kid": "two", "alg": "RS256"], "key")),
        Row("a kid in capitals", (["kid": "ONE", "alg": "RS256"], "key")),
        Row("a kid with a space", (["kid": " one", "alg": "RS256"], "key")),
        Row("a kid that is a path", (["kid": "../../../../dev/null", "alg": "RS256"], "key")),
        Row("a kid that is SQL", (["kid": "' OR '1'='1", "alg": "RS256"], "key")),
        Row("a kid with a zero byte", (["kid": "one\0", "alg": "RS256"], "key")),
        Row(
            "a kid of 10,000 characters",
            (["kid": .string(String(repeating: "k", count: 10_000)), "alg": "RS256"], "key")),
    ]

    /// Each is signed by the right key: only what the header says is wrong with it.
    @Test(arguments: headers)
    func `tokens with a forged header are refused with the failed check`(
        _ row: Row<(header: JSON, check: String)>
    ) throws {
        let token = try Forge.sign(Forge.claims, row.value.header)
        let result = try Forge.verifier().verify(identityToken: token, at: Forge.now)
        #expect(result.failed == [row.value.check])
        #expect(result.check("signature")?.status == .skipped)
        let detail = try #require(result.failures.first?.detail)
        #expect(!detail.isEmpty && detail.count < 300)
    }

    @Test(arguments: ["JWT", "jwt", "at+jwt", ""])
    func `the type of a token is not checked`(_ type: String) throws {
        let header = Forge.header.changed(["typ": .string(type), "x": ["y": .null]])
        let token = try Forge.sign(Forge.claims, header)
        #expect(try Forge.verifier().verify(identityToken: token, at: Forge.now).isValid)
    }

    @Test func `keys in a header are named as unused`() throws {
        let header: JSON = ["kid": "x", "alg": "RS256", "jwk": [:], "jku": "https://evil.example"]
        let token = try Forge.sign(Forge.claims, header)
        let result = try Forge.verifier().verify(identityToken: token, at: Forge.now)
        #expect(result.check("key")?.detail?.hasSuffix("own jku, jwk is never used") == true)
    }

    @Test func `a key is fetched only for a header that Apple could have written`() throws {
        #expect(try Forge.sign().verificationKeyID == "one")
        for row in Self.headers where row.value.check == "algorithm" {
            #expect(try Forge.sign(Forge.claims, row.value.header).verificationKeyID == nil)
        }
        for kid in ["", nil, .null, 1, ["one"]] as [JSON?] {
            let header = Forge.header.changed(["kid": kid])
            #expect(try Forge.sign(Forge.claims, header).verificationKeyID == nil)
        }
    }

    @Test func `without keys, no token is valid`() throws {
        let verifier = TokenVerifier(keySet: nil, audiences: ["com.example.app"])
        let result = verifier.verify(identityToken: try Forge.sign(), at: Forge.now)
        #expect(result.failed == ["key"] && result.claims == nil)
    }
}
