import Foundation
import SIWACOpenSSL
import SIWACrypto
import SIWATestSupport
import Testing

@Suite(.blocking) struct P256PrivateKeyTests {
    static let message = Array("a message".utf8)

    @Test(arguments: Layout.allCases) func `a key is read in any layout`(_ layout: Layout) throws {
        let key = try P256PrivateKey(derRepresentation: RFC7515.der(layout))
        #expect(key.publicKey.x963Representation == RFC7515.point)
        let signature = try key.sign(for: Self.message)
        let known = try P256PublicKey(x963Representation: RFC7515.point)
        #expect(try known.verifies(signature, for: Self.message))
    }

    @Test func `a key whose public point is compressed is read`() throws {
        let key = try P256PrivateKey(
            derRepresentation: SecretBytes(SIWACryptoTests.key("compressed-point")))
        #expect(key.publicKey.x963Representation.count == 65)
        let signature = try key.sign(for: Self.message)
        let known = try P256PublicKey(derRepresentation: SIWACryptoTests.key("compressed-public"))
        #expect(try known.verifies(signature, for: Self.message))
    }

    struct Foreign: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: P256KeyError

        init(_ file: String, _ error: P256KeyError) {
            (testDescription, self.error) = (file, error)
        }
    }

    static let foreign = [
        Foreign("p384", .curve("secp384r1")), Foreign("secp256k1", .curve("secp256k1")),
        Foreign("rsa", .algorithm("RSA")), Foreign("rsa-pss", .algorithm("RSA-PSS")),
        Foreign("ed25519", .algorithm("ED25519")),
    ]

    @Test(arguments: foreign) func `a key of another kind is named in the error`(_ row: Foreign)
        throws
    {
        let der = try SecretBytes(SIWACryptoTests.key(row.testDescription))
        #expect(throws: row.error) { try P256PrivateKey(derRepresentation: der) }
    }

    static let noKeys: [(String, [UInt8])] = [
        ("nothing", []), ("one byte", [0x30]), ("an empty sequence", [0x30, 0]),
        ("text", Array("hello".utf8)), ("an indefinite length", [0x30, 0x80, 0, 0]),
        ("a length of 2^64", [0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("a public key", (try? SIWACryptoTests.key("compressed-public")) ?? []),
        ("an encrypted key", (try? SIWACryptoTests.key("encrypted")) ?? []),
    ]

    @Test(arguments: noKeys) func `text that is not a key is refused`(
        _ name: String, _ der: [UInt8]
    )
        throws
    {
        #expect {
            try P256PrivateKey(derRepresentation: SecretBytes(der))
        } throws: { error in
            if case P256KeyError.unreadable = error { true } else { false }
        }
    }

    /// OpenSSL's ways to spell the halves wrong.
    struct Inconsistent: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let scalar: [UInt8]
        var point = RFC7515.point
        /// Without a point there is nothing to mismatch.
        var layouts = Layout.allCases
    }

    static let order = bytes(
        hex: "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
    static let withPoint = [Layout.apple, .openSSL, .sec1]
    static let inconsistent = [
        Inconsistent(testDescription: "scalar 0", scalar: [UInt8](repeating: 0, count: 32)),
        Inconsistent(testDescription: "scalar = order", scalar: order),
        Inconsistent(testDescription: "scalar = order + 1", scalar: order.dropLast() + [0x52]),
        Inconsistent(
            testDescription: "scalar 2^256 - 1", scalar: [UInt8](repeating: 255, count: 32)),
        Inconsistent(
            testDescription: "scalar of another key", scalar: RFC7515.scalar.flipping(0),
            layouts: withPoint),
        Inconsistent(
            testDescription: "point off the curve", scalar: RFC7515.scalar,
            point: RFC7515.point.flipping(64 * 8), layouts: withPoint),
        Inconsistent(
            testDescription: "point mirrored", scalar: RFC7515.scalar, point: mirrored,
            layouts: withPoint),
    ]

    /// The point of the negated scalar: on the curve, same x, and not the key's.
    static let mirrored: [UInt8] = {
        let prime = bytes(hex: "FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")
        var borrow = 0
        var y = [UInt8](repeating: 0, count: 32)
        for index in (0..<32).reversed() {
            let difference = Int(prime[index]) - Int(RFC7515.point[33 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            y[index] = UInt8(difference & 255)
        }
        return RFC7515.point.prefix(33) + y
    }()

    @Test(arguments: inconsistent) func `a private key with another key's public point is refused`(
        _ row: Inconsistent
    ) throws {
        for layout in row.layouts {
            let der = layout.der(scalar: row.scalar, point: row.point)
            #expect("\(layout)") {
                try P256PrivateKey(derRepresentation: der)
            } throws: { error in
                switch error as? P256KeyError {
                case .inconsistent, .unreadable: true
                default: false
                }
            }
        }
    }

    @Test(arguments: Layout.allCases) func `a truncated key never causes a crash`(
        _ layout: Layout
    ) throws {
        let whole = RFC7515.der(layout).revealed()
        for count in 0..<whole.count {
            let part = SecretBytes(whole.prefix(count))
            #expect(throws: P256KeyError.self, "\(count) bytes") {
                try P256PrivateKey(derRepresentation: part)
            }
        }
    }

    @Test(arguments: Layout.allCases) func `a key with a changed bit is never read as another key`(
        _ layout: Layout
    ) throws {
        let whole = RFC7515.der(layout).revealed()
        for bit in 0..<whole.count * 8 {
            let spoiled = SecretBytes(whole.flipping(bit))
            guard let key = try? P256PrivateKey(derRepresentation: spoiled) else { continue }
            let signature = try key.sign(for: Self.message)
            #expect(try key.publicKey.verifies(signature, for: Self.message))
            // A layout that carries the point cannot turn into another key unnoticed.
            if layout != .noPoint, layout != .sec1NoPoint {
                #expect(key.publicKey.x963Representation == RFC7515.point, "bit \(bit)")
            }
        }
    }

    @Test func `a key survives the conversion to PEM and back`() throws {
        let key = try P256PrivateKey.generate()
        let pem = String(decoding: try key.pemRepresentation().revealed(), as: UTF8.self)
        let lines = pem.split(separator: "\n")
        #expect(lines.first == "-----BEGIN PRIVATE KEY-----")
        #expect(lines.last == "-----END PRIVATE KEY-----")
        let der = bytes(base64: lines.dropFirst().dropLast().joined())
        let back = try P256PrivateKey(derRepresentation: SecretBytes(der))
        #expect(back.publicKey.x963Representation == key.publicKey.x963Representation)
    }

    @Test func `every generated key is different`() throws {
        let keys = try (0..<8).map { _ in
            try P256PrivateKey.generate().publicKey.x963Representation
        }
        #expect(Set(keys).count == 8)
    }

    @Test func `OpenSSL's error queue is empty after an operation`() throws {
        let good = RFC7515.der(.sec1)
        let foreign = try SecretBytes(SIWACryptoTests.key("p384"))
        for der in [good, foreign, SecretBytes([0x30]), RFC7515.der(.apple)] {
            _ = try? P256PrivateKey(derRepresentation: der).sign(for: Self.message)
            #expect(ERR_peek_error() == 0)
        }
    }
}
