import SIWACrypto
import SIWAJOSE
import SIWATestSupport
import Testing

@Suite struct KeySetTests {
    /// An odd number of 2048 bits: its factors are unknown, and a key set does not need them.
    static func modulus(_ seed: UInt64 = 1, bytes count: Int = 256) -> String {
        var random = SeededRandom(seed: seed)
        return Base64URL.encode([0x80] + random.bytes(count - 2) + [0x01])
    }

    /// A JWK as Apple publishes it; a changed member is replaced, or left out when nil.
    static func key(_ changes: [String: JSON?] = [:]) -> JSON {
        let good: [(String, JSON?)] = [
            ("kty", "RSA"), ("kid", "one"), ("use", "sig"), ("alg", "RS256"),
            ("key_ops", nil), ("n", .string(modulus())), ("e", "AQAB"),
        ]
        return .object(
            good.compactMap { name, value in
                (changes[name] ?? value).map { JSON.Member(name, $0) }
            })
    }

    static func set(_ keys: [JSON]) -> KeySet? {
        let document: JSON = ["keys": .array(keys)]
        return KeySet(document.bytes)
    }

    static let usable: [Row<JSON>] = [
        Row("Apple's", key()), Row("no use", key(["use": nil])), Row("no alg", key(["alg": nil])),
        Row("for verifying", key(["key_ops": ["encrypt", "verify"]])),
        Row("zeros before n", key(["n": .string("AAAA" + modulus())])),
    ]

    @Test(arguments: usable) func `a usable key is accepted`(_ row: Row<JSON>) throws {
        let set = try #require(Self.set([row.value]))
        #expect(set["one"]?.bits == 2048)
        #expect(set.ignored.isEmpty)
        #expect(
            try set["one"]?.thumbprint() == Self.set([Self.key()])?["one"]?.thumbprint())
    }

    static let unusable: [Row<(JSON, IgnoredKey.Reason)>] = [
        Row("an EC key", (key(["kty": "EC"]), .type)), Row("no kty", (key(["kty": nil]), .type)),
        Row("for encryption", (key(["use": "enc"]), .use)),
        Row("use is null", (key(["use": .null]), .use)),
        Row("for encrypting", (key(["key_ops": ["encrypt"]]), .operations)),
        Row("for signing", (key(["use": nil, "key_ops": ["sign"]]), .operations)),
        Row("for nothing", (key(["key_ops": []]), .operations)),
        Row("key_ops as a text", (key(["key_ops": "verify"]), .operations)),
        Row("key_ops null", (key(["key_ops": .null]), .operations)),
        Row("PS256", (key(["alg": "PS256"]), .algorithm)),
        Row("RS256 in a list", (key(["alg": ["RS256"]]), .algorithm)),
        Row("no kid", (key(["kid": nil]), .noKeyID)), Row("no name", (key(["kid": ""]), .noKeyID)),
        Row("a kid that is a number", (key(["kid": 1]), .noKeyID)),
        Row("no n", (key(["n": nil]), .numbers)),
        Row("n padded", (key(["n": .string(modulus() + "=")]), .numbers)),
        Row("n in base64", (key(["n": "+/+/"]), .numbers)),
        Row("e as a number", (key(["e": 65_537]), .numbers)),
        Row("an empty n", (key(["n": ""]), .unfit)),
        Row("n too small", (key(["n": "AQAB"]), .unfit)),
        Row("2040 bits", (key(["n": .string(modulus(bytes: 255))]), .unfit)),
        Row("an empty e", (key(["e": ""]), .unfit)), Row("e = 0", (key(["e": "AA"]), .unfit)),
        Row("e = 1", (key(["e": "AQ"]), .unfit)),
        Row("a huge n", (key(["n": .string(String(repeating: "_", count: 24_000))]), .unfit)),
        Row("no object", (7, .noObject)), Row("null", (.null, .noObject)),
        Row("a key in a list", (.array([key()]), .noObject)),
    ]

    @Test(arguments: unusable) func `an unusable key is ignored with the reason`(
        _ row: Row<(JSON, IgnoredKey.Reason)>
    ) throws {
        let (key, reason) = row.value
        let set = try #require(Self.set([key, Self.key(["kid": "two"])]))
        #expect(set.keyIDs == ["two"], "the others stay")
        #expect(set.ignored == [IgnoredKey(key["kid"]?.string, reason)])
        #expect(Self.set([key]) == nil, "alone it is no key set")
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":null}"#, "<html>",
        #"{"keys":[],"keys":[]}"#,
    ])
    func `a document that is not a key set is refused`(_ body: String) {
        #expect(KeySet(Array(body.utf8)) == nil)
    }

    @Test func `key sets nested 20,000 deep are refused`() {
        let body = String(repeating: #"{"keys":["#, count: 20_000)
        #expect(KeySet(Array(body.utf8)) == nil)
    }

    @Test func `two different keys with one kid are both ignored`()
        throws
    {
        let other = Self.key(["n": .string(Self.modulus(2))])
        let good = Self.key(["kid": "two"])
        for keys in [[Self.key(), other, good], [other, good, Self.key()]] {
            let set = try #require(Self.set(keys))
            #expect(set.keyIDs == ["two"])
            #expect(set.ignored == [IgnoredKey("one", .ambiguous)])
        }
        #expect(
            Self.set([Self.key(), other, Self.key()]) == nil, "also when the first comes again")
    }

    @Test func `a key that appears twice counts once`() throws {
        let set = try #require(Self.set([Self.key(), Self.key(["use": nil])]))
        #expect(set.keys.count == 1 && set.ignored.isEmpty)
    }

    @Test func `a key for another use does not hide a usable key with the same kid`() throws {
        for keys in [
            [Self.key(), Self.key(["use": "enc"])], [Self.key(["kty": "EC"]), Self.key()],
        ] {
            let set = try #require(Self.set(keys))
            #expect(set.keys.count == 1 && set.ignored.count == 1)
        }
    }

    @Test func `thousands of keys are accepted`() throws {
        let keys = (0..<3000).map { Self.key(["kid": .string("k\($0)")]) }
        #expect(Self.set(keys)?.keys.count == 3000)
    }

    @Test func `the thumbprint equals that of RFC 7638, section 3.1`() throws {
        let n = """
            0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw
            """
        let set = try #require(Self.set([Self.key(["n": .string(n)])]))
        #expect(
            try set["one"]?.thumbprint() == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }
}

extension IgnoredKey {
    init(_ keyID: String?, _ reason: Reason) { self.init(keyID: keyID, reason: reason) }
}
