package import SIWACrypto
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
}
