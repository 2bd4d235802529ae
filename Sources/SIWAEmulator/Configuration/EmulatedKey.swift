package import SIWACrypto
internal import SIWAJOSE
package import SIWALifecycle

/// The public half of a `.p8` that the emulated Apple knows.
package struct EmulatedKey: Sendable {
    /// The ten characters that `kid` names it by.
    package let keyID: KeyID
    /// The key that verifies its signatures.
    package let publicKey: P256PublicKey

    /// Registers a key.
    package init(keyID: KeyID, publicKey: P256PublicKey) {
        self.keyID = keyID
        self.publicKey = publicKey
    }
}

// A JSON Web Key (RFC 7517, RFC 7518 §6.2).
extension EmulatedKey {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json, at: place, knowing: ["kty", "crv", "kid", "use", "alg", "x", "y"])
        guard json["kty"] == "EC", json["crv"] == "P-256" else {
            throw ShapeError(place, "must be a JSON Web Key with kty EC and crv P-256")
        }
        let point = [4] + (try reader.coordinate("x")) + (try reader.coordinate("y"))
        guard let publicKey = try? P256PublicKey(x963Representation: point) else {
            throw ShapeError(place, "'x' and 'y' are no point on P-256")
        }
        self.init(keyID: try reader.required("kid"), publicKey: publicKey)
    }

    var json: JSON {
        let point = publicKey.x963Representation
        return [
            "kty": "EC", "crv": "P-256", "kid": keyID.json, "use": "sig", "alg": "ES256",
            "x": .string(Base64URL.encode(point[1...32])),
            "y": .string(Base64URL.encode(point[33...64])),
        ]
    }
}

extension JSONObjectReader {
    fileprivate func coordinate(_ name: String) throws(ShapeError) -> [UInt8] {
        let text: String = try required(name)
        guard let bytes = try? Base64URL.decode(text), bytes.count == 32 else {
            throw ShapeError(place, "'\(name)' must be 32 bytes in base64url")
        }
        return bytes
    }
}
