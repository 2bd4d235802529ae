/// Why a text is not the private key that Apple issued.
public enum PrivateKeyError: Error, Hashable, Sendable {
    /// Nothing but white space.
    case empty
    /// Something else that people keep beside their key, such as `a certificate`.
    case somethingElse(String)
    /// Locked with a passphrase; Apple's keys never are.
    case encrypted
    /// A key of another algorithm or on another curve, such as `an RSA key`.
    case wrongKind(String)
    /// Begins like a key, but what follows is damaged.
    case damaged(String)
    /// A private and a public half that do not belong together.
    case inconsistent
}

extension PrivateKeyError: CustomStringConvertible {
    /// What it is instead, as the end of a sentence that begins with "the private key".
    public var description: String {
        switch self {
        case .empty: "is empty"
        case .somethingElse(let what): "is \(what), not a private key"
        case .encrypted: "is encrypted with a passphrase"
        case .wrongKind(let what): "is \(what), not a P-256 key"
        case .damaged(let detail): "is damaged (\(detail))"
        case .inconsistent: "has a public half that does not belong to it"
        }
    }
}
