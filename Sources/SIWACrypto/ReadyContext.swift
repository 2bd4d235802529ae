internal import COpenSSL
internal import Synchronization

/// OpenSSL's means to sign or to verify by one key, set up once and used again and again: setting
/// up costs a fifth of what verifying does, and locks that all threads share.
final class ReadyContext: Sendable {
    /// Used by one caller at a time.
    private nonisolated(unsafe) let context: OpaquePointer
    private let digest: HashContext

    /// Prepares to sign or to verify.
    ///
    /// - Parameter prepare: makes a fresh context of `key` sign, or verify.
    init(
        _ key: OpaquePointer, prepare: (OpaquePointer) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        let context = try Owned<KeyContext>(openssl.EVP_PKEY_CTX_new_from_pkey(nil, key, nil))
        digest = try HashContext()
        let algorithm = try SHA256.algorithm.get().pointer
        try prepare(context.pointer)
        try check(openssl.EVP_PKEY_CTX_set_signature_md(context.pointer, algorithm))
        self.context = context.release()
    }

    deinit { openssl.EVP_PKEY_CTX_free(context) }

    /// Whether `signature` is the key's over the SHA-256 of `message`. One call at a time.
    ///
    /// - Throws: ``OpenSSLError`` when OpenSSL cannot answer at all.
    func isValid(
        _ signature: [UInt8], for message: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        let hash = try digest.hash(of: message)
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
        let hash = try digest.hash(of: message)
        var signature = [UInt8](repeating: 0, count: longest)
        var length = longest
        try check(
            hash.span.withUnsafeBufferPointer { hash in
                openssl.EVP_PKEY_sign(context, &signature, &length, hash.baseAddress, hash.count)
            })
        signature.removeLast(longest - length)
        return signature
    }
}

/// The idle contexts of one key, or of hashing: as many as threads used it at once.
struct ReadyContexts<Context: Sendable>: ~Copyable {
    private let idle = Mutex<[Context]>([])

    /// Lends one to `body`; makes one when all are in use.
    func with<Result>(
        _ make: () throws(OpenSSLError) -> Context,
        _ body: (Context) throws(OpenSSLError) -> Result
    ) throws(OpenSSLError) -> Result {
        let context: Context
        if let free = idle.withLock({ $0.popLast() }) {
            context = free
        } else {
            context = try make()
        }
        defer { idle.withLock { $0.append(context) } }
        return try body(context)
    }
}
