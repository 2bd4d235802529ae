/// Why a text is not the private key that Apple issued.
package enum PrivateKeyError: Error, Hashable, Sendable {
    /// Only white space.
    case empty
    /// Not a private key.
    case notAPrivateKey(OtherContent)
    /// Encrypted with a passphrase; Apple's keys never are.
    case encrypted
    /// A key of another algorithm or on another curve, such as `an RSA key`.
    case wrongKind(String)
    /// Begins like a key, but is damaged.
    case damaged(String)
    /// The private and the public key do not belong together.
    case inconsistent
}

extension PrivateKeyError {
    /// What a text is instead of a private key.
    package enum OtherContent: Sendable {
        /// SubjectPublicKeyInfo.
        case publicKey
        case certificate
        case certificateRequest
        /// `EC PARAMETERS`.
        case curveParameters
        /// A PEM block with another label.
        case otherPEM
        case jwt
        case json
        case sshPublicKey
        case unknown

        /// The name with its article, such as `a certificate`.
        package var name: String {
            switch self {
            case .publicKey: "a public key"
            case .certificate: "a certificate"
            case .certificateRequest: "a certificate request"
            case .curveParameters: "the parameters of a curve"
            case .otherPEM: "PEM of another kind"
            case .jwt: "a JWT"
            case .json: "JSON"
            case .sshPublicKey: "an SSH public key"
            case .unknown: "text of an unknown format"
            }
        }
    }
}

extension PrivateKeyError: CustomStringConvertible {
    /// What it is instead, as the end of a sentence that begins with "the private key".
    package var description: String {
        switch self {
        case .empty: "is empty"
        case .notAPrivateKey(.unknown): "is not in a known key format"
        case .notAPrivateKey(let content): "is \(content.name), not a private key"
        case .encrypted: "is encrypted with a passphrase"
        case .wrongKind(let what): "is \(what), not a P-256 key"
        case .damaged(let detail): "is damaged (\(detail))"
        case .inconsistent: "has a public half that does not belong to it"
        }
    }
}
