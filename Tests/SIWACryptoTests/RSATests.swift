import SIWACOpenSSL
import SIWACrypto
import Testing

@Suite struct RSATests {
    struct Numbers: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let modulus: [UInt8]
        let exponent: [UInt8]

        init(_ name: String, _ modulus: [UInt8], _ exponent: [UInt8]) {
            (testDescription, self.modulus, self.exponent) = (name, modulus, exponent)
        }
    }

    static let f4: [UInt8] = [1, 0, 1]
    static let odd2048: [UInt8] = [0x80] + [UInt8](repeating: 1, count: 255)

    static let refused = [
        Numbers("no modulus", [], f4), Numbers("modulus 0", [0], f4),
        Numbers("modulus of 2048 zero bits", [UInt8](repeating: 0, count: 256), f4),
        Numbers("1024 bits", [0x80] + [UInt8](repeating: 1, count: 127), f4),
        Numbers("2047 bits", [0x7F] + [UInt8](repeating: 1, count: 255), f4),
        Numbers(
            "1024 bits after zeros",
            [UInt8](repeating: 0, count: 128) + [0x80] + [UInt8](repeating: 1, count: 127), f4),
        Numbers("no exponent", odd2048, []), Numbers("exponent 0", odd2048, [0]),
        Numbers("exponent 1", odd2048, [1]), Numbers("an even exponent", odd2048, [2]),
        Numbers("an even modulus", [0x80] + [UInt8](repeating: 0, count: 255), f4),
        Numbers("131,072 bits", [UInt8](repeating: 0xFF, count: 16_384), f4),
    ]

    @Test(arguments: refused) func `invalid numbers are refused`(_ row: Numbers) {
        #expect(throws: OpenSSLError.self) {
            try RSAPublicKey(modulus: row.modulus, exponent: row.exponent)
        }
        #expect(ERR_peek_error() == 0)
    }

    static let accepted = [
        Numbers("2048 bits", RFC7515.modulus, f4),
        Numbers("zeros in front", [0, 0] + RFC7515.modulus, [0] + f4),
        Numbers("exponent 3", odd2048, [3]),
        Numbers("an exponent of 2048 bits", odd2048, [UInt8](repeating: 0xFF, count: 256)),
        Numbers("4096 bits", [UInt8](repeating: 0xFF, count: 512), f4),
    ]

    @Test(arguments: accepted) func `valid numbers are accepted`(_ row: Numbers) throws {
        let key = try RSAPublicKey(modulus: row.modulus, exponent: row.exponent)
        #expect(key.bits == row.modulus.drop { $0 == 0 }.count * 8)
        #expect(try !key.verifies([], for: RFC7515.rs256Input))
        #expect(
            try !key.verifies([UInt8](repeating: 0, count: 256), for: RFC7515.rs256Input))
        #expect(ERR_peek_error() == 0)
    }

    @Test func `a generated key's signatures verify with its public numbers`() throws {
        let key = try RSAPrivateKey.generate()
        let known = try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
        #expect(known.bits == 2048)
        #expect(key.modulus.count == 256)
        #expect(key.exponent == Self.f4)
        let message = Array("a message".utf8)
        let signature = try key.sign(for: message)
        #expect(signature.count == 256)
        #expect(try known.verifies(signature, for: message))
        #expect(try !known.verifies(signature.flipping(7), for: message))
        #expect(try !known.verifies(signature + [0], for: message))
        #expect(try !known.verifies(Array(signature.dropLast()), for: message))
    }
}
