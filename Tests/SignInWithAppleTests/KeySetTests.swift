import SIWACrypto
import SignInWithApple
import Testing

@Suite struct KeySetTests {
    static let modulus: String =
        (try? RSAPrivateKey.generate()).map { Base64URL.encode($0.modulus) } ?? ""

    static func key(_ changes: [String: JSON?] = [:]) -> JSON {
        let good: [(String, JSON)] = [
            ("kty", "RSA"), ("kid", "one"), ("use", "sig"), ("alg", "RS256"),
            ("n", .string(modulus)),
            ("e", "AQAB"),
        ]
        return .object(
            good.compactMap { name, value in
                (changes[name] ?? value).map { JSON.Member(name, $0) }
            })
    }

    static let usable: [Row<JSON>] = [
        Row("Apple's", key()), Row("no use", key(["use": nil])), Row("no alg", key(["alg": nil])),
    ]

    @Test(arguments: usable) func `takes`(_ row: Row<JSON>) throws {
        let set = try #require(
            KeySet(JSON.object([JSON.Member("keys", .array([row.value]))]).bytes))
        #expect(set.keys["one"]?.bits == 2048)
    }

    static let unusable: [Row<JSON>] = [
        Row("an EC key", key(["kty": "EC"])), Row("for encryption", key(["use": "enc"])),
        Row("PS256", key(["alg": "PS256"])), Row("no kid", key(["kid": nil])),
        Row("a kid that is a number", key(["kid": 1])), Row("no n", key(["n": nil])),
        Row("an empty n", key(["n": ""])), Row("n padded", key(["n": .string(modulus + "=")])),
        Row("n in base64", key(["n": "+/+/"])), Row("n too small", key(["n": "AQAB"])),
        Row("an empty e", key(["e": ""])), Row("e = 0", key(["e": "AA"])),
        Row("e = 1", key(["e": "AQ"])),
        Row("e as a number", key(["e": 65_537])),
        Row("a huge n", key(["n": .string(String(repeating: "_", count: 24_000))])),
        Row("no object", 7), Row("null", .null),
    ]

    @Test(arguments: unusable) func `leaves out`(_ row: Row<JSON>) {
        let other = Self.key(["kid": "two"])
        let body = JSON.object([JSON.Member("keys", .array([row.value, other]))])
        #expect(KeySet(body.bytes)?.keys.keys.sorted() == ["two"], "the others stay")
        let alone = JSON.object([JSON.Member("keys", .array([row.value]))])
        #expect(KeySet(alone.bytes) == nil, "alone it is no key set")
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":null}"#, "<html>",
    ])
    func `is none`(_ body: String) { #expect(KeySet(Array(body.utf8)) == nil) }

    @Test func `of two keys with one kid the first counts`() throws {
        let other = Base64URL.encode(try RSAPrivateKey.generate().modulus)
        let body: JSON = ["keys": [Self.key(), Self.key(["n": .string(other)])]]
        let set = try #require(KeySet(body.bytes))
        #expect(set.keys.count == 1)
    }
}
