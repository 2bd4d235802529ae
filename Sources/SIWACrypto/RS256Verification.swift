internal import COpenSSL

/// OpenSSL's means to verify RS256 by one key, set up once and used again and again: setting up
/// costs a fifth of what verifying does, and locks that all threads share.
final class RS256Verification: Sendable {
    /// Nobody but the one caller at a time.
    private nonisolated(unsafe) let key: OpaquePointer
    private nonisolated(unsafe) let digest: OpaquePointer

    init(_ key: OpaquePointer) throws(OpenSSLError) {
        let digest = try Owned<DigestContext>(openssl.EVP_MD_CTX_new())
        let context = try Owned<KeyContext>(openssl.EVP_PKEY_CTX_new_from_pkey(nil, key, nil))
        let algorithm = try SHA256.algorithm.get().pointer
        try check(openssl.EVP_PKEY_verify_init(context.pointer))
        try check(openssl.EVP_PKEY_CTX_set_rsa_padding(context.pointer, RSA_PKCS1_PADDING))
        try check(openssl.EVP_PKEY_CTX_set_signature_md(context.pointer, algorithm))
        try check(openssl.EVP_DigestInit_ex2(digest.pointer, algorithm, nil))
        self.key = context.release()
        self.digest = digest.release()
    }

    deinit {
        openssl.EVP_PKEY_CTX_free(key)
        openssl.EVP_MD_CTX_free(digest)
    }

    /// Whether `signature` is the key's over the SHA-256 of `message`. One call at a time.
    ///
    /// - Throws: ``OpenSSLError`` when OpenSSL cannot answer at all.
    func isValid(
        _ signature: [UInt8], for message: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        var hash: [32 of UInt8] = .init(repeating: 0)
        // No algorithm is the one it has: the context begins anew.
        try check(openssl.EVP_DigestInit_ex2(digest, nil, nil))
        try check(
            message.withUnsafeBytes { openssl.EVP_DigestUpdate(digest, $0.baseAddress, $0.count) })
        var bytes = hash.mutableSpan
        try bytes.withUnsafeMutableBufferPointer { hash throws(OpenSSLError) in
            try check(openssl.EVP_DigestFinal_ex(digest, hash.baseAddress, nil))
        }
        return hash.span.withUnsafeBufferPointer { hash in
            holds(
                openssl.EVP_PKEY_verify(
                    key, signature, signature.count, hash.baseAddress, hash.count))
        }
    }
}
