import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

/// A row of a table, known by its name.
struct Row<Value: Sendable>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let value: Value

    init(_ name: String, _ value: Value) { (testDescription, self.value) = (name, value) }
}

/// A file of this target's `Vectors` folder.
func vector(_ name: String) -> [UInt8] {
    let url = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Vectors/\(name)")
    guard let data = try? Data(contentsOf: url) else {
        Issue.record("there is no vector \(name)")
        return []
    }
    return [UInt8](data)
}

/// A key file of `Vectors/keys`.
func keyFile(_ name: String) -> String {
    String(decoding: vector("keys/\(name).pem"), as: UTF8.self)
}

/// One client, at one moment, with a published key (RFC 7515 A.3).
enum Example {
    static let now = NumericDate(1_700_000_000)
    static let teamID = TeamID(unchecked: "A1B2C3D4E5")
    static let clientID = ClientID(unchecked: "com.example.app")
    static let keyID = KeyID(unchecked: "K1L2M3N4P5")

    static func privateKey() throws -> P256PrivateKey {
        try PrivateKeyText(SecretBytes(vector("keys/apple.pem"))).privateKey()
    }

    static func signingKey() throws -> SigningKey { SigningKey(try privateKey(), id: keyID) }

    static func client(lifetime: Duration = .seconds(300)) throws -> Client {
        Client(
            teamID: teamID, clientID: clientID, signingKey: try signingKey(),
            secretLifetime: lifetime)
    }
}

extension P256PublicKey {
    /// Spans cannot be used inside #expect: the same call with arrays.
    func verifies(_ signature: [UInt8], for message: [UInt8]) throws -> Bool {
        guard let signature = P256Signature(rawRepresentation: signature) else { return false }
        return try isValidSignature(signature, for: message.span)
    }
}
