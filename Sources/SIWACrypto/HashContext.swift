internal import COpenSSL

/// An OpenSSL context for SHA-256, created once and reused.
final class HashContext: Sendable {
    /// Used by one caller at a time.
    private nonisolated(unsafe) let context: OpaquePointer

    init() throws(OpenSSLError) {
        let context = try Owned<DigestContext>(openssl.EVP_MD_CTX_new())
        let algorithm = try SHA256.algorithm.get().pointer
        try check(openssl.EVP_DigestInit_ex2(context.pointer, algorithm, nil))
        self.context = context.release()
    }

    deinit { openssl.EVP_MD_CTX_free(context) }

    /// The SHA-256 of `message`. Must not be called concurrently.
    func hash(of message: Span<UInt8>) throws(OpenSSLError) -> [32 of UInt8] {
        var hash: [32 of UInt8] = .init(repeating: 0)
        var bytes = hash.mutableSpan
        try bytes.withUnsafeMutableBufferPointer { bytes throws(OpenSSLError) in
            try message.withUnsafeBytes { message throws(OpenSSLError) in
                // Null keeps the context's algorithm, and resets the context.
                try check(
                    openssl.EVP_DigestInit_ex2(context, nil, nil) == 1
                        && openssl.EVP_DigestUpdate(context, message.baseAddress, message.count)
                            == 1
                        ? openssl.EVP_DigestFinal_ex(context, bytes.baseAddress, nil) : 0)
            }
        }
        return hash
    }
}
