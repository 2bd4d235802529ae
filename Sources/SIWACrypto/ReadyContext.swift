internal import COpenSSL
internal import Synchronization

/// OpenSSL's means to sign or to verify by one key, set up once and used again and again: setting
/// up costs a fifth of what verifying does, and locks that all threads share.
final class ReadyContext: Sendable {
    /// Used by one caller at a time.
    private nonisolated(unsafe) let context: OpaquePointer
    private nonisolated(unsafe) let digest: OpaquePointer

    /// Prepares to sign or to verify.
    ///
    /// - Parameter prepare: makes a fresh context of `key` sign, or verify.
    init(
        _ key: OpaquePointer, prepare: (OpaquePointer) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        let context = try Owned<KeyContext>(openssl.EVP_PKEY_CTX_new_from_pkey(nil, key, nil))
        let digest = try Owned<DigestContext>(openssl.EVP_MD_CTX_new())
        let algorithm = try SHA256.algorithm.get().pointer
        try prepare(context.pointer)
        try check(openssl.EVP_PKEY_CTX_set_signature_md(context.pointer, algorithm))
        try check(openssl.EVP_DigestInit_ex2(digest.pointer, algorithm, nil))
        self.context = context.release()
        self.digest = digest.release()
    }

    deinit {
        openssl.EVP_PKEY_CTX_free(context)
        openssl.EVP_MD_CTX_free(digest)
    }

    /// Whether `signature` is the key's over the SHA-256 of `message`. One call at a time.
    ///
    /// - Throws: ``OpenSSLError`` when OpenSSL cannot answer at all.
    func isValid(
        _ signature: [UInt8], for message: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        let hash = try hash(of: message)
        return hash.span.withUnsafeBufferPointer { hash in
            holds(
                openssl.EVP_PKEY_verify(
                    context, signature, signature.count, hash.baseAddress, hash.count))
        }
    }

    /// The key's signature over the SHA-256 of `message`. One call at a time.
    ///
    /// - Parameter longest: how many bytes it has at most.
    func signature(for message: Span<UInt8>, longest: Int) throws(OpenSSLError) -> [UInt8] {
        let hash = try hash(of: message)
        var signature = [UInt8](repeating: 0, count: longest)
        var length = longest
        try check(
            hash.span.withUnsafeBufferPointer { hash in
                openssl.EVP_PKEY_sign(context, &signature, &length, hash.baseAddress, hash.count)
            })
        signature.removeLast(longest - length)
        return signature
    }

    private func hash(of message: Span<UInt8>) throws(OpenSSLError) -> [32 of UInt8] {
        var hash: [32 of UInt8] = .init(repeating: 0)
        var bytes = hash.mutableSpan
        try bytes.withUnsafeMutableBufferPointer { bytes throws(OpenSSLError) in
            try message.withUnsafeBytes { message throws(OpenSSLError) in
                // Without an algorithm, the context keeps the one it has and starts a new
                // computation.
                try check(
                    openssl.EVP_DigestInit_ex2(digest, nil, nil) == 1
                        && openssl.EVP_DigestUpdate(digest, message.baseAddress, message.count) == 1
                        ? openssl.EVP_DigestFinal_ex(digest, bytes.baseAddress, nil) : 0)
            }
        }
        return hash
    }
}

/// The idle contexts of one key: as many as threads used it at once.
struct ReadyContexts: ~Copyable {
    private let idle = Mutex<[ReadyContext]>([])

    /// Lends one to `body`; makes one when all are in use.
    func with<Result>(
        _ make: () throws(OpenSSLError) -> ReadyContext,
        _ body: (ReadyContext) throws(OpenSSLError) -> Result
    ) throws(OpenSSLError) -> Result {
        let context: ReadyContext
        if let free = idle.withLock({ $0.popLast() }) {
            context = free
        } else {
            context = try make()
        }
        defer { idle.withLock { $0.append(context) } }
        return try body(context)
    }
}
