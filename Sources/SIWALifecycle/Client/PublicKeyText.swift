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
    case isOfAnotherKind

    package var description: String {
        switch self {
        case .isPrivate: "is a private key"
        case .isNoPEM: "has no line '-----BEGIN PUBLIC KEY-----'"
        case .isDamaged: "is damaged: what is between its BEGIN and END lines is not base64"
        case .isOfAnotherKind: "is not a key on the curve P-256"
        }
    }
}
