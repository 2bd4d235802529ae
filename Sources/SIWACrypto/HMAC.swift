internal import SIWACOpenSSL

/// HMAC (RFC 2104).
package enum HMAC {
    /// The hash of a code.
    package enum Hash: String, Sendable, CaseIterable {
        case sha256 = "SHA256"
        case sha384 = "SHA384"
        case sha512 = "SHA512"

        /// The length of a code in bytes.
        package var length: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    /// The 32 bytes of the authentication code of `message` with `key`.
    ///
    /// - Throws: ``OpenSSLError`` if the system's policy disables SHA-256.
    package static func sha256(
        _ message: [UInt8], with key: SecretBytes
    ) throws(OpenSSLError) -> [UInt8] {
        try code(of: message, with: key, using: .sha256)
    }

    /// The authentication code of `message` with `key`.
    ///
    /// - Throws: ``OpenSSLError`` if the system's policy disables the hash.
    package static func code(
        of message: [UInt8], with key: SecretBytes, using hash: Hash
    ) throws(OpenSSLError) -> [UInt8] {
        try OpenSSL.load()
        var code = [UInt8](repeating: 0, count: hash.length)
        var length = 0
        let written = key.withUnsafeBytes { key in
            openssl.EVP_Q_mac(
                nil, "HMAC", nil, hash.rawValue, nil, key.baseAddress, key.count, message,
                message.count, &code, code.count, &length)
        }
        guard written != nil, length == code.count else { throw .drained() }
        return code
    }
}
