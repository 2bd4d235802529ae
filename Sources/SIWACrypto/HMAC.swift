internal import SIWACOpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMAC {
    /// The 32 bytes of the authentication code of `message` with `key`.
    ///
    /// - Throws: ``OpenSSLError`` if the system's policy disables SHA-256.
    package static func sha256(
        _ message: [UInt8], with key: SecretBytes
    ) throws(OpenSSLError) -> [UInt8] {
        try OpenSSL.load()
        var code = [UInt8](repeating: 0, count: 32)
        var length = 0
        let written = key.withUnsafeBytes { key in
            openssl.EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count, message,
                message.count, &code, code.count, &length)
        }
        guard written != nil, length == code.count else { throw .drained() }
        return code
    }
}
