import SIWACrypto
import SIWATestSupport
import Testing

@testable import SIWAJOSE

/// A text that is copied unchanged has the value that is made of it.
@Suite struct JSONTextTests {
    static let plain = [
        #"{}"#, #"[]"#, #"0"#, #"-1"#, "\"\"", "\"a b\"", #"-0.0"#, #"1e5"#,
        #"9223372036854775808"#,
        #"{"a":[1,{"b":null}],"c":{"d":[true,false,"e"]}}"#,
        #"{"iss":"https://appleid.apple.com","exp":1800000600}"#,
    ]

    @Test(arguments: plain) func `text is plain if writing its value returns it unchanged`(
        _ text: String
    ) throws {
        let read = try JSONText(Array(text.utf8))
        #expect(read.isPlain && read.value.text == text)
    }

    static let odd = [
        #"{ }"#, #"[1, 2]"#, #"{"a": 1}"#, "{\"a\":1\n}", #"-0"#, #"[-0]"#, #""\u0061""#, #""\/""#,
        "\"\u{7F}\"", "\"\u{E9}\"", #"{"\u0061":1}"#, #"{"a":{"b":[ ]}}"#, "[\"\u{202E}\"]",
    ]

    @Test(arguments: odd) func `text that writing could change is not plain`(_ text: String) throws
    {
        #expect(try !JSONText(Array(text.utf8)).isPlain)
    }

    @Test func `surrounding spaces do not matter, and are not part of the text`() throws {
        let text = try JSONText(Array(" {\"a\":1} \n".utf8))
        #expect(text.isPlain && text.nodes[0].range == 1..<8)
    }

    @Test func `members are found as in the parsed value`() throws {
        let source = #"{"x":{"a":1},"a\u0062":"c","list":[1],"n":-0,"s":"\u0073","e":"","ab ":2}"#
        let text = try JSONText(Array(source.utf8))
        for name in ["x", "ab", "a\\u0062", "list", "n", "s", "e", "ab ", "a", ""] {
            let expected = text.value[name]
            #expect(text[name] == expected, "\(name)")
            #expect(text.secret(name)?.revealed() == expected?.string.map { Array($0.utf8) })
        }
        #expect(try JSONText(Array("[1]".utf8))["a"] == nil)
    }

    @Test(arguments: Claim.allCases) func `a claim is found only by its name`(
        _ claim: Claim
    ) throws {
        let name = "\(claim.name)"
        let escaped = #"\u\#(String(0x1_0000 + Int(name.utf8.first ?? 0), radix: 16).dropFirst())"#
        for spelling in [name, escaped + name.dropFirst()] {
            let claims = TokenClaims(try JSONText(Array(#"{"x":[1],"\#(spelling)":2}"#.utf8)))
            #expect(claims.moment(claim) == NumericDate(2), "\(spelling)")
            #expect(Claim.allCases.count { claims[$0] != nil } == 1, "\(spelling)")
        }
        for other in [name + name, name.uppercased(), "\(name.dropLast(2))__", "x\(name)"] {
            let claims = TokenClaims(try JSONText(Array(#"{"\#(other)":2}"#.utf8)))
            #expect(Claim.allCases.allSatisfy { claims[$0] == nil }, "\(other)")
        }
    }

    @Test func `claims are checked as in the parsed value`() throws {
        let values = [
            "\"\"", "\"a\"", #""\u0061""#, "\"true\"", "\"false\"", "\"1\"", "0", "-1", "1.0",
            "true",
            "false", "null", "[]", #"["a"]"#, "{}", "9223372036854775807", "9223372036854775808",
        ]
        for source in values {
            let value = try JSON(text: source)
            let claims = TokenClaims(try JSONText(Array(#"{"exp":1,"nonce":\#(source)}"#.utf8)))
            #expect(claims[.nonce] == value && claims.has(.nonce) && !claims.has(.aud), "\(source)")
            #expect(claims.hasString(.nonce) == (value.string != nil), "\(source)")
            #expect(
                claims.hasFilledString(.nonce) == (value.string?.isEmpty == false), "\(source)")
            #expect(claims.has(.nonce, exactly: "a") == (value.string == "a"), "\(source)")
            #expect(claims.moment(.nonce) == value.moment, "\(source)")
            #expect(claims.flag(.nonce) == value.flag, "\(source)")
            #expect(!claims.hasString(.aud) && claims.moment(.aud) == nil)
        }
    }

    static let claims = [
        #""email":"a@b.example""#, #""email":"""#, #""email":1"#, #""email_verified":"true""#,
        #""email_verified":true"#, #""email_verified":"TRUE""#, #""is_private_email":"false""#,
        #""is_private_email":1"#, #""exp":1800000600"#, #""exp":"1""#, #""exp":-62167219201"#,
        #""iat":0"#, #""nbf":-1"#, #""auth_time":253402300799"#, #""real_user_status":2"#,
        #""real_user_status":7"#, #""exp_rfc3339":"never""#, #""real_user_status_name":1"#,
        #""sub":"001""#, #""aud":["a"]"#, #""nonce":"n""#, #""more":{"exp":1}"#, #""e\u0078p":1"#,
        #""name":"\u00e9""#, #""odd": 1"#, "\"\u{E9}\":2", #""auth_time_rfc3339":null"#,
    ]

    @Test func `claims are written in one form, whichever form they have`() throws {
        var random = SeededRandom(seed: 20_261_122)
        for _ in 0..<3000 {
            var names: Set<JSON> = []
            let members = Self.claims.shuffled(using: &random).prefix(
                Int.random(in: 0...12, using: &random)
            )
            .filter { claim in
                let name = try? JSON(text: "{\(claim)}").members?.first?.name
                return names.insert(.string(name ?? "")).inserted
            }
            let payload = "{\(members.joined(separator: ","))}"
            let token = try CompactJWS(
                "\(Base64URL.encode(#"{"alg":"RS256"}"#.utf8)).\(Base64URL.encode(payload.utf8)).AQID"
            )
            var line = JSONLine()
            line.add("header", headerOf: token)
            line.add("claims", normalizedClaimsOf: token)
            let expected: JSON = ["header": token.header, "claims": token.payload.normalizedClaims]
            #expect(line.finished() == expected.bytes + [0x0A], "\(payload)")
        }
    }
}
