internal import COpenSSL

/// OpenSSL's means to compute SHA-256, set up once and used again and again.
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

    /// The SHA-256 of `message`. One call at a time.
    func hash(of message: Span<UInt8>) throws(OpenSSLError) -> [32 of UInt8] {
        var hash: [32 of UInt8] = .init(repeating: 0)
        var bytes = hash.mutableSpan
        try bytes.withUnsafeMutableBufferPointer { bytes throws(OpenSSLError) in
            try message.withUnsafeBytes { message throws(OpenSSLError) in
                // No algorithm is the one it has: the context begins anew.
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
