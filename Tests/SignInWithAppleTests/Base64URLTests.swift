import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

@Suite struct Base64URLTests {
    /// RFC 4648 §10 without the padding, and the two characters that differ from base64.
    static let vectors = [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors) func `the test vectors of RFC 4648 are encoded and decoded`(
        _ plain: String, _ encoded: String
    ) throws {
        #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
        #expect(try Base64URL.decode(encoded) == Array(plain.utf8))
    }

    @Test func `the alphabet ends in - and _`() throws {
        #expect(Base64URL.encode([0xFB, 0xEF, 0xFF]) == "--__")
        #expect(try Base64URL.decode("--__") == [0xFB, 0xEF, 0xFF])
    }

    static let refused: [Row<(String, Base64URLError)>] = [
        Row("padded once", ("Zm8=", .character(0x3D))),
        Row("padded twice", ("Zg==", .character(0x3D))),
        Row("padding alone", ("=", .character(0x3D))),
        Row("a plus", ("Zm9+", .character(0x2B))), Row("a slash", ("Zm9/", .character(0x2F))),
        Row("a space", ("Zm 9v", .character(0x20))),
        Row("a line feed", ("Zm9v\n", .character(0x0A))),
        Row("a NUL", ("Zm9v\0", .character(0))), Row("a dot", ("Zm9v.", .character(0x2E))),
        Row("not ASCII", ("Zm9\u{E9}", .character(0xC3))),
        Row("one character", ("Z", .length(1))), Row("five characters", ("Zm9vZ", .length(5))),
        Row("stray bits after one byte", ("Zh", .strayBits)),
        Row("stray bits after two bytes", ("Zm9", .strayBits)),
        Row("all bits stray", ("Z_", .strayBits)),
    ]

    @Test(arguments: refused) func `invalid base64url is refused`(
        _ row: Row<(String, Base64URLError)>
    ) {
        #expect(throws: row.value.1) { try Base64URL.decode(row.value.0) }
        #expect(!row.value.1.description.isEmpty)
    }

    @Test func `every value has exactly one encoding`() throws {
        for first in UInt8.min ... .max {
            let text = Base64URL.encode([first])
            let others = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                .filter { (try? Base64URL.decode("\(text.prefix(1))\($0)")) == [first] }
            #expect("\(text.prefix(1))\(others)" == text)
        }
    }

    @Test func `random bytes are encoded as Foundation does and decoded again`() throws {
        var random = SeededRandom(seed: 1)
        for count in 0..<300 {
            let bytes = random.bytes(count)
            let expected = Data(bytes).base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
            #expect(Base64URL.encode(bytes) == expected)
            #expect(try Base64URL.decode(expected) == bytes)
        }
    }

    @Test(arguments: [15, 16, 17, 32, 35, 50])
    func `an invalid character is found at every position`(_ count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let text = Array(Base64URL.encode(random.bytes(count)).utf8)
        for place in text.indices {
            for byte in UInt8.min ... .max {
                var changed = text
                changed[place] = byte
                let result = Result { () throws(Base64URLError) in try Base64URL.decode(changed) }
                if Self.alphabet.contains(byte) {
                    // Only the last character can have bits to spare.
                    if case .failure(let error) = result {
                        #expect(error == .strayBits && place == text.count - 1)
                    } else {
                        #expect(try Base64URL.encode(result.get()).utf8.elementsEqual(changed))
                    }
                } else {
                    #expect(result == .failure(.character(byte)), "\(byte) at \(place)")
                }
            }
        }
    }

    private static let alphabet = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    @Test func `each byte has two hexadecimal digits`() {
        #expect([UInt8]([0, 1, 15, 16, 171, 255]).hexadecimal == "00010f10abff")
    }
}
