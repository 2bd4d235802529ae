package import SIWACrypto
internal import SIWAJOSE

extension P256PublicKey {
    /// Reads a public key in PEM (RFC 7468): SubjectPublicKeyInfo.
    ///
    /// - Throws: ``PublicKeyError``.
    package convenience init(text: String) throws(PublicKeyError) {
        let lines = text.split(whereSeparator: \.isNewline)
            .map { String($0).trimmingSpace }
        guard let begin = lines.firstIndex(of: "-----BEGIN PUBLIC KEY-----"),
            let end = lines[begin...].firstIndex(of: "-----END PUBLIC KEY-----")
        else {
            let isPrivate = lines.contains { $0.hasSuffix("PRIVATE KEY-----") }
            throw isPrivate ? .isPrivate : .isNoPEM
        }
        let body = SecretBytes(lines[(begin + 1)..<end].joined().utf8)
        guard let der = try? decodeBase64(body) else { throw .isDamaged }
        do throws(P256KeyError) {
            try self.init(derRepresentation: der.revealed())
        } catch {
            throw .isOfAnotherKind
        }
    }
}

/// Why a text is not a public key.
package enum PublicKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case isPrivate
    case isNoPEM
    case isDamaged
    case isDamagedJWK
    case isOfAnotherKind

    package var description: String {
        switch self {
        case .isPrivate: "is a private key"
        case .isNoPEM: "has no line '-----BEGIN PUBLIC KEY-----'"
        case .isDamaged: "is damaged: what is between its BEGIN and END lines is not base64"
        case .isDamagedJWK: "is damaged: it is no JWK with x and y of a point on P-256"
        case .isOfAnotherKind: "is not a key on the curve P-256"
        }
    }
}

extension P256PublicKey {
    /// Reads a public key in PEM, DER or as a JWK (RFC 7517).
    ///
    /// - Throws: ``PublicKeyError``.
    package convenience init(anyForm bytes: [UInt8]) throws(PublicKeyError) {
        let first = bytes.first { !isSpace($0) }
        if first == UInt8(ascii: "{") {
            try self.init(jwk: bytes)
        } else if bytes.count > 2, bytes[0] == 0x30, Int(bytes[1]) == bytes.count - 2 {
            // DER: a SEQUENCE of fewer than 128 bytes, which P-256 keys are.
            do throws(P256KeyError) {
                try self.init(derRepresentation: bytes)
            } catch {
                throw .isOfAnotherKind
            }
        } else {
            try self.init(text: String(decoding: bytes, as: UTF8.self))
        }
    }

    private convenience init(jwk bytes: [UInt8]) throws(PublicKeyError) {
        guard let json = try? JSON(bytes) else { throw .isDamagedJWK }
        guard json["d"] == nil else { throw .isPrivate }
        guard json["kty"] == "EC", json["crv"] == "P-256" else { throw .isOfAnotherKind }
        guard let x = json["x"]?.string.flatMap({ try? Base64URL.decode($0) }), x.count == 32,
            let y = json["y"]?.string.flatMap({ try? Base64URL.decode($0) }), y.count == 32
        else { throw .isDamagedJWK }
        do throws(OpenSSLError) {
            try self.init(x963Representation: [4] + x + y)
        } catch {
            throw .isDamagedJWK
        }
    }
}
