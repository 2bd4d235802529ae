/// Why bytes are not the P-256 key that ES256 needs.
package enum P256KeyError: Error, Hashable, Sendable {
    /// OpenSSL cannot read a key.
    case unreadable(OpenSSLError)
    /// A key of another algorithm; OpenSSL's name for it, such as `RSA`.
    case algorithm(String)
    /// An elliptic key on another curve; OpenSSL's name for it, such as `secp384r1`.
    case curve(String)
    /// The public and the private key do not belong together, or the scalar is out of range.
    case inconsistent
}

extension P256KeyError: CustomStringConvertible {
    /// What is wrong, as a sentence without a full stop.
    package var description: String {
        switch self {
        case .unreadable(let error): "the key cannot be read: \(error)"
        case .algorithm(let name): "it is a key for \(name), not on P-256"
        case .curve(let name): "it is a key on \(name), not on P-256"
        case .inconsistent: "its public and its private half do not belong together"
        }
    }
}
