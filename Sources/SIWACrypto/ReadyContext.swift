internal import SIWACOpenSSL
internal import Synchronization

/// An OpenSSL context for signing or verifying with one key. It is reused, because creating one
/// takes a fifth of the time of verifying, and locks that all threads share.
final class ReadyContext: Sendable {
    /// Used by one caller at a time.
    private nonisolated(unsafe) let context: OpaquePointer
    private let digest: HashContext

    /// Prepares to sign or to verify.
    ///
    /// - Parameter prepare: initializes a new context of `key` for signing or verifying.
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

    /// Whether `signature` is the key's signature of the SHA-256 of `message`. Must not be called
    /// concurrently.
    ///
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    func isValid(
        _ signature: [UInt8], for message: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        isValid(signature, forHash: try digest.hash(of: message))
    }

    /// Whether `signature` is the key's signature of what has this SHA-256. Must not be called
    /// concurrently.
    func isValid(_ signature: [UInt8], forHash hash: [32 of UInt8]) -> Bool {
        hash.span.withUnsafeBufferPointer { hash in
            holds(
                openssl.EVP_PKEY_verify(
                    context, signature, signature.count, hash.baseAddress, hash.count))
        }
    }

    /// The key's signature of the SHA-256 of `message`. Must not be called concurrently.
    ///
    /// - Parameter longest: the greatest length of a signature in bytes.
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

/// The idle contexts of one key, or of hashing: as many as were used at the same time.
struct ReadyContexts<Context: Sendable>: ~Copyable {
    private let idle = Mutex<[Context]>([])

    /// Lends a context to `body`; creates one if all are in use.
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
