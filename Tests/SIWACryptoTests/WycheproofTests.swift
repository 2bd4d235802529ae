import Foundation
import SIWACrypto
import Testing

/// One row of a Wycheproof file, with the public key of its group.
struct WycheproofRow: Sendable, CustomTestStringConvertible {
    let id: Int
    let comment: String
    let message: [UInt8]
    let signature: [UInt8]
    let result: String
    let key: [String: String]

    var testDescription: String { "tc \(id), \(result): \(comment)" }
}

/// A Wycheproof file as far as it is needed here.
private struct WycheproofFile: Decodable {
    struct Group: Decodable {
        struct Test: Decodable {
            let tcId: Int
            let comment: String
            let msg: String
            let sig: String
            let result: String
        }

        struct Key: Decodable {
            let uncompressed: String?
            let modulus: String?
            let publicExponent: String?
        }

        let publicKey: Key
        let tests: [Test]
    }

    let numberOfTests: Int
    let testGroups: [Group]
}

@Suite struct WycheproofTests {
    static let ecdsa = rows("ecdsa_secp256r1_sha256_p1363_test")
    static let rsa = rows("rsa_signature_2048_sha256_test")

    @Test func `every vector of both files is tested`() {
        #expect(Self.ecdsa.count == 262)
        #expect(Self.rsa.count == 259)
        #expect(Self.ecdsa.count { $0.result == "valid" } == 173)
        #expect(Self.ecdsa.count { $0.result == "invalid" } == 89)
        #expect(Self.rsa.count { $0.result == "valid" } == 9)
        #expect(Self.rsa.count { $0.result == "invalid" } == 249)
        #expect(Self.rsa.count { $0.result == "acceptable" } == 1)
    }

    @Test(arguments: ecdsa) func `ES256 signatures are verified as Wycheproof expects`(
        _ row: WycheproofRow
    ) throws {
        let point = bytes(hex: try #require(row.key["point"]))
        let key = try P256PublicKey(x963Representation: point)
        let signature = P256Signature(rawRepresentation: row.signature)
        let isValid = try signature.map {
            try key.verifies($0, for: row.message)
        }
        #expect((isValid ?? false) == (row.result == "valid"))
    }

    /// The acceptable vector leaves out the NULL of the digest's algorithm: RFC 8017 lets a
    /// verifier take it, RFC 7518's RS256 has no signer that makes it, and it is refused.
    @Test(arguments: rsa) func `RS256 signatures are verified as Wycheproof expects`(
        _ row: WycheproofRow
    ) throws {
        let key = try RSAPublicKey(
            modulus: bytes(hex: try #require(row.key["modulus"])),
            exponent: bytes(hex: try #require(row.key["exponent"])))
        let isValid = try key.verifies(row.signature, for: row.message)
        #expect(isValid == (row.result == "valid"))
    }

    /// Empty when the file cannot be read, which the first test notices.
    private static func rows(_ name: String) -> [WycheproofRow] {
        guard let data = try? vector("wycheproof/\(name).json"),
            let file = try? JSONDecoder().decode(WycheproofFile.self, from: data)
        else { return [] }
        let rows = file.testGroups.flatMap { group in
            let key = [
                "point": group.publicKey.uncompressed, "modulus": group.publicKey.modulus,
                "exponent": group.publicKey.publicExponent,
            ].compactMapValues { $0 }
            return group.tests.map {
                WycheproofRow(
                    id: $0.tcId, comment: $0.comment, message: bytes(hex: $0.msg),
                    signature: bytes(hex: $0.sig), result: $0.result, key: key)
            }
        }
        return rows.count == file.numberOfTests ? rows : []
    }
}
