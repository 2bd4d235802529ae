import SIWACOpenSSL
import SIWACrypto
import Testing

@Suite struct P256PublicKeyTests {
    static let noPoints: [(String, [UInt8])] = [
        ("nothing", []), ("the point at infinity", [0]),
        ("64 bytes", Array(RFC7515.point.dropLast())),
        ("66 bytes", RFC7515.point + [0]), ("no format byte", Array(RFC7515.point.dropFirst())),
        ("a compressed point", [0x03] + RFC7515.point[1..<33]),
        ("a hybrid point", [0x07] + RFC7515.point.dropFirst()),
        ("a point off the curve", RFC7515.point.flipping(64 * 8)),
        ("zeros", [4] + [UInt8](repeating: 0, count: 64)),
        ("coordinates beyond the prime", [4] + [UInt8](repeating: 255, count: 64)),
    ]

    @Test(arguments: noPoints) func `an invalid point is refused`(_ name: String, _ point: [UInt8])
    {
        #expect(throws: OpenSSLError.self) { try P256PublicKey(x963Representation: point) }
        #expect(ERR_peek_error() == 0)
    }

    @Test func `a key survives the conversion to DER and back`() throws {
        let key = try P256PublicKey(x963Representation: RFC7515.point)
        let der = try key.derRepresentation()
        let expected = DER.sequence(
            DER.sequence(DER.ecPublicKey, DER.prime256v1), DER.bits(RFC7515.point))
        #expect(der == expected)
        #expect(
            try P256PublicKey(derRepresentation: der).x963Representation == RFC7515.point)
    }

    @Test func `PEM is the DER in base64`() throws {
        let key = try P256PublicKey(x963Representation: RFC7515.point)
        let lines = try key.pemRepresentation().split(separator: "\n")
        #expect(lines.first == "-----BEGIN PUBLIC KEY-----")
        #expect(lines.last == "-----END PUBLIC KEY-----")
        let body = bytes(base64: lines.dropFirst().dropLast().joined())
        #expect(try body == key.derRepresentation())
    }

    @Test func `a compressed point in a SubjectPublicKeyInfo is read`() throws {
        let key = try P256PublicKey(derRepresentation: SIWACryptoTests.key("compressed-public"))
        #expect(key.x963Representation.count == 65)
    }

    @Test func `a truncated or damaged SubjectPublicKeyInfo never causes a crash`() throws {
        let der = try P256PublicKey(x963Representation: RFC7515.point).derRepresentation()
        for count in 0..<der.count {
            #expect(throws: P256KeyError.self, "\(count) bytes") {
                try P256PublicKey(derRepresentation: Array(der.prefix(count)))
            }
        }
        for bit in 0..<der.count * 8 {
            let key = try? P256PublicKey(derRepresentation: der.flipping(bit))
            #expect(key?.x963Representation.count ?? 65 == 65, "bit \(bit)")
        }
    }

    static let sizes = [0, 1, 63, 65, 70, 72, 128]

    @Test(arguments: sizes) func `a signature must have 64 bytes`(_ count: Int) {
        #expect(P256Signature(rawRepresentation: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `an empty message can be signed and verified`() throws {
        let key = try P256PrivateKey.generate()
        let nothing: [UInt8] = []
        let signature = try key.sign(for: nothing)
        #expect(try key.publicKey.verifies(signature, for: nothing))
        #expect(try !key.publicKey.verifies(signature, for: [0]))
    }
}
