package import SIWACrypto
package import SIWAJOSE
internal import SIWALifecycle

extension P256PublicKey {
    /// Whether both are the same point on the curve.
    package func isSame(as other: P256PublicKey) -> Bool {
        x963Representation == other.x963Representation
    }

    /// The first 12 hexadecimal digits of the SHA-256 of its SubjectPublicKeyInfo.
    package var fingerprint: String {
        (try? derRepresentation()).map { SecretText(SecretBytes($0)).description } ?? "unknown"
    }

    /// The key as a JWK (RFC 7517, RFC 7518 §6.2.1).
    package func jwk(as keyID: String?) -> JSON {
        let point = x963Representation
        return .object(
            [
                .init("kty", "EC"), .init("crv", "P-256"), .init("alg", "ES256"),
                .init("use", "sig"),
            ] + (keyID.map { [.init("kid", .string($0))] } ?? []) + [
                .init("x", .string(Base64URL.encode(point[1..<33]))),
                .init("y", .string(Base64URL.encode(point[33...]))),
            ])
    }
}
