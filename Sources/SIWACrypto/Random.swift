internal import SIWACOpenSSL

/// OpenSSL's generator of unpredictable bytes.
package enum Random {
    /// `count` unpredictable bytes.
    ///
    /// - Throws: ``OpenSSLError`` if the system provides no entropy.
    package static func bytes(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try check(openssl.RAND_bytes(&bytes, CInt(count)))
        return bytes
    }

    /// `count` unpredictable secret bytes, such as a key.
    ///
    /// - Throws: ``OpenSSLError`` if the system provides no entropy.
    package static func secret(_ count: Int) throws(OpenSSLError) -> SecretBytes {
        var secret = SecretBuffer(capacity: count)
        _ = try secret.append(upTo: count) { room throws(OpenSSLError) in
            try check(openssl.RAND_bytes(room.baseAddress, CInt(count)))
            return count
        }
        return secret.finished()
    }
}
