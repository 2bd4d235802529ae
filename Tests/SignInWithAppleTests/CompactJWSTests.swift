import SIWACrypto
import Testing

@testable import SIWAJOSE

@Suite struct CompactJWSTests {
    static let header = Base64URL.encode(Array(#"{"alg":"ES256"}"#.utf8))
    static let payload = Base64URL.encode(Array(#"{"iss":"joe"}"#.utf8))

    @Test func `a token is split into header, payload and signature`() throws {
        let jws = try CompactJWS("\(Self.header).\(Self.payload).AQID")
        #expect(jws.header == ["alg": "ES256"])
        #expect(jws.payload == ["iss": "joe"])
        #expect(jws.signature == [1, 2, 3])
        #expect(jws.signingInput == Array("\(Self.header).\(Self.payload)".utf8))
    }

    @Test func `a missing signature is an empty signature`() throws {
        #expect(try CompactJWS("\(Self.header).\(Self.payload).").signature == [])
    }

    static let duplicate = Base64URL.encode(Array(#"{"alg":"none","alg":"ES256"}"#.utf8))
    static let array = Base64URL.encode(Array("[1]".utf8))
    static let refused: [Row<(String, CompactJWSError)>] = [
        Row("nothing", ("", .parts(1))), Row("one part", (header, .parts(1))),
        Row("two parts", ("\(header).\(payload)", .parts(2))),
        Row("four parts", ("\(header).\(payload).AQID.AQID", .parts(4))),
        Row("five parts, as JWE has", ("a.b.c.d.e", .parts(5))),
        Row(
            "padding in the header",
            ("\(header)=.\(payload).AQID", .base64URL(.header, .character(0x3D)))),
        Row(
            "padding in the payload",
            ("\(header).\(payload)=.AQID", .base64URL(.payload, .character(0x3D)))),
        Row(
            "padding in the signature",
            ("\(header).\(payload).AQI=", .base64URL(.signature, .character(0x3D)))),
        Row(
            "a space in front",
            (" \(header).\(payload).AQID", .base64URL(.header, .character(0x20)))),
        Row(
            "a line feed after it",
            ("\(header).\(payload).AQID\n", .base64URL(.signature, .character(0x0A)))),
        Row(
            "stray bits in the signature",
            ("\(header).\(payload).AQJ", .base64URL(.signature, .strayBits))),
        Row(
            "no header",
            (".\(payload).AQID", .json(.header, JSONError(reason: .ended, offset: 0, line: 1)))),
        Row(
            "no payload",
            ("\(header)..AQID", .json(.payload, JSONError(reason: .ended, offset: 0, line: 1)))),
        Row(
            "alg twice",
            (
                "\(duplicate).\(payload).AQID",
                .json(.header, JSONError(reason: .duplicate("alg"), offset: 14, line: 1))
            )),
        Row("an array as payload", ("\(header).\(array).AQID", .notAnObject(.payload))),
        Row("an array as header", ("\(array).\(payload).AQID", .notAnObject(.header))),
        Row("65,537 characters", (String(repeating: "a", count: 65_537), .tooLong(65_537))),
        Row("65,536 dots", (String(repeating: ".", count: 65_536), .parts(65_537))),
    ]

    @Test(arguments: refused) func `invalid tokens are refused`(
        _ row: Row<(String, CompactJWSError)>
    ) {
        #expect(throws: row.value.1) { try CompactJWS(row.value.0) }
        #expect(!row.value.1.description.isEmpty)
    }

    @Test func `a reader of several tokens returns each token's own header`() throws {
        var reader = CompactJWSReader()
        let other = Base64URL.encode(Array(#"{"alg":"RS256"}"#.utf8))
        for (header, algorithm) in [(Self.header, "ES256"), (other, "RS256"), (other, "RS256")] {
            let jws = try reader.read(Array("\(header).\(Self.payload).AQID".utf8))
            #expect(jws.header == ["alg": .string(algorithm)])
        }
        #expect(
            throws: CompactJWSError.json(.header, JSONError(reason: .ended, offset: 0, line: 1))
        ) {
            try reader.read(Array(".\(Self.payload).AQID".utf8))
        }
        #expect(try reader.read(Array("\(other).\(Self.payload).".utf8)).header["alg"] == "RS256")
    }

    @Test func `a reader with a full header cache returns the right header`() throws {
        var reader = CompactJWSReader()
        let headers: [String] = (0..<100).map { Base64URL.encode(#"{"kid":"\#($0)"}"#.utf8) }
        for _ in 0..<3 {
            for (number, header) in headers.enumerated() {
                for _ in 0..<2 {
                    let jws = try reader.read(Array("\(header).\(Self.payload).AQID".utf8))
                    #expect(jws.header == ["kid": .string("\(number)")])
                    #expect(jws.heading.keyID == "\(number)")
                }
            }
        }
    }

    @Test func `the signature covers exactly the text of the token`() throws {
        var input: [UInt8] = []
        let token = CompactJWS.sign(header: ["alg": "x"], payload: ["a": 1]) { lent in
            input = lent.indices.map { lent[$0] }
            return [0xFF, 0xFE]
        }
        #expect(String(decoding: input, as: UTF8.self) == "eyJhbGciOiJ4In0.eyJhIjoxfQ")
        #expect(token.revealed() == Array("eyJhbGciOiJ4In0.eyJhIjoxfQ.__4".utf8))
        #expect(try CompactJWS(token.revealed()).signingInput == input)
    }

    @Test func `an error of the signing closure is rethrown`() {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try CompactJWS.sign(header: [:], payload: [:]) { _ throws(Refusal) in throw Refusal() }
        }
    }

    @Test func `Apple's notification of 2022 verifies with the key it names`() throws {
        let jws = try CompactJWS(vector("notification-2022-07.jwt").filter { $0 > 0x20 })
        let keySet = try #require(KeySet(vector("jwks-2019-2022.json")))
        let key = try #require(jws.header["kid"]?.string.flatMap { keySet[$0] })
        let isValid = try key.isValidSignature(jws.signature, for: jws.signingInput.span)
        #expect(isValid)
    }
}
