internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMAC {
    /// The 32 bytes that prove that the author of `message` has `key`.
    ///
    /// - Throws: ``OpenSSLError`` when a site's policy has taken SHA-256 away.
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
