import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct TokenBindingTests {
    static let nonce = "raw-nonce-1"
    static let digest = (try? SHA256.digest(nonce)) ?? []

    static func nonce(
        _ inToken: JSON?, given: String = nonce, supported: JSON? = nil
    ) throws -> TokenCheck {
        let claims = Forge.claims(["nonce": inToken, "nonce_supported": supported])
        let result = try Forge.verify(claims, TokenBinding(nonce: SecretText(given)))
        let check = try #require(result.check("nonce"))
        #expect(result.isValid == (check.status == .passed))
        return check
    }

    static let accepted: [Row<(text: String, detail: String)>] = [
        Row("as it was given", (nonce, "as it was given")),
        Row("its hash in hexadecimal", (digest.hexadecimal, "as SHA-256, hexadecimal")),
        Row("its hash in base64url", (Base64URL.encode(digest), "as SHA-256, base64url")),
    ]

    @Test(arguments: accepted)
    func `a matching nonce is accepted`(_ row: Row<(text: String, detail: String)>) throws {
        let check = try Self.nonce(.string(row.value.text))
        #expect(check.status == .passed && check.detail == row.value.detail)
    }

    static let twice = (try? SHA256.digest(digest.hexadecimal)) ?? []
    static let twiceRaw = (try? SHA256.digest(digest.span)) ?? []
    static let withLineEnd = (try? SHA256.digest(nonce + "\n")) ?? []
    static let mistaken: [Row<(text: String, names: String)>] = [
        Row("upper-case hexadecimal", (digest.hexadecimal.uppercased(), "upper-case hexadecimal")),
        Row("base64", (Base64.encode(digest), "SHA-256 in base64;")),
        Row("base64url with padding", (Base64URL.encode(digest) + "=", "base64url with padding")),
        Row(
            "base64 without padding",
            (String(Base64.encode(digest).dropLast()), "base64 without its padding")),
        Row(
            "base64 of hexadecimal",
            (Base64.encode(digest.hexadecimal.utf8), "base64 of the hexadecimal")),
        Row(
            "base64url of hexadecimal",
            (Base64URL.encode(digest.hexadecimal.utf8), "of the hexadecimal")),
        Row("hashed twice", (twice.hexadecimal, "hashed twice in hexadecimal")),
        Row("hashed twice, in base64", (Base64.encode(twice), "hashed twice in base64")),
        Row("the hash's bytes hashed", (Base64URL.encode(twiceRaw), "hashed twice in base64url")),
        Row("hashed with a line end", (withLineEnd.hexadecimal, "with a line end")),
        Row("in capitals", (nonce.uppercased(), "upper and lower case")),
        Row("another", ("raw-nonce-2", "another one")),
        Row("shorter", ("raw-nonce", "another one")),
        Row("nothing", ("", "another one")),
        Row("a Kelvin sign", ("raw-nonce-\u{212A}", "another one")),
        Row("the left half of its hash", (digest.prefix(16).hexadecimal, "another one")),
    ]

    @Test(arguments: mistaken)
    func `a nonce that does not match is refused, and the mistake is named`(
        _ row: Row<(text: String, names: String)>
    ) throws {
        let check = try Self.nonce(.string(row.value.text))
        #expect(check.status == .failed)
        #expect(check.detail?.contains(row.value.names) == true, "\(check)")
        #expect(check.detail?.contains(Self.nonce) == false)
    }

    @Test func `each digest of the table differs in base64 and base64url`() {
        for digest in [Self.digest, Self.twice] {
            #expect(digest.count == 32)
            let base64 = Base64.encode(digest)
            #expect(base64.contains("+") || base64.contains("/"), "\(base64)")
        }
    }

    @Test func `the hash of the nonce is refused with the advice to give the nonce itself`() throws
    {
        for given in [Self.digest.hexadecimal, Base64URL.encode(Self.digest)] {
            let check = try Self.nonce(.string(Self.nonce), given: given)
            #expect(check.status == .failed)
            #expect(check.detail?.contains("give the nonce itself") == true)
        }
    }

    @Test func `a nonce that is missing or not a text is refused`() throws {
        for value in [nil, 7, .null, ["raw-nonce-1"]] as [JSON?] {
            #expect(try Self.nonce(value).status == .failed)
        }
        #expect(
            try Self.nonce(nil, supported: true).detail?.contains("nonce_supported is true") == true
        )
        #expect(try Self.nonce(nil, supported: false).detail == "the token has none")
    }

    @Test func `an empty nonce is refused, and without a nonce the check is skipped`() throws {
        #expect(try Self.nonce("", given: "").status == .failed)
        let check = try Forge.verify().check("nonce")
        #expect(check?.status == .skipped)
        #expect(check?.detail == "the token has one, and none was given to compare")
    }

    @Test(arguments: ["c_hash", "at_hash"])
    func `a token is bound to the values that it came with`(_ name: String) throws {
        func check(_ claim: JSON?, _ text: String, lenient: Bool = false) throws -> TokenCheck {
            let secret = SecretText(text)
            let binding = TokenBinding(
                code: name == "c_hash" ? AuthorizationCode(secret) : nil,
                accessToken: name == "at_hash" ? AccessToken(secret) : nil,
                acceptsMissingHashes: lenient)
            let result = try Forge.verify(Forge.claims.changed([name: claim]), binding)
            let check = try #require(result.check(name))
            #expect(result.isValid == (check.status != .failed))
            return check
        }
        let digest = try SHA256.digest("a.1")
        let hash = JSON.string(Base64URL.encode(digest.prefix(16)))
        #expect(try check(hash, "a.1").status == .passed)
        #expect(try check(hash, "a.2").status == .failed)
        #expect(try check(.string(Base64.encode(digest.prefix(16))), "a.1").status == .failed)
        #expect(try check(.string(digest.hexadecimal), "a.1").status == .failed)
        #expect(try check(7, "a.1", lenient: true).status == .failed)
        #expect(try check(nil, "a.1").status == .failed)
        #expect(try check(nil, "a.1", lenient: true).status == .skipped)
    }
}
