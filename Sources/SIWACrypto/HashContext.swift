internal import SIWACOpenSSL

/// An OpenSSL context for SHA-256, created once and reused.
final class HashContext: Sendable {
    /// Used by one caller at a time.
    private nonisolated(unsafe) let context: OpaquePointer
    /// For a copy of the other one.
    private nonisolated(unsafe) let spare: OpaquePointer

    init() throws(OpenSSLError) {
        let context = try Owned<DigestContext>(openssl.EVP_MD_CTX_new())
        let spare = try Owned<DigestContext>(openssl.EVP_MD_CTX_new())
        let algorithm = try SHA256.algorithm.get().pointer
        try check(openssl.EVP_DigestInit_ex2(context.pointer, algorithm, nil))
        (self.context, self.spare) = (context.release(), spare.release())
    }

    deinit {
        openssl.EVP_MD_CTX_free(context)
        openssl.EVP_MD_CTX_free(spare)
    }

    /// The SHA-256 of `message`. Must not be called concurrently.
    func hash(of message: Span<UInt8>) throws(OpenSSLError) -> [32 of UInt8] {
        var hash: [32 of UInt8] = .init(repeating: 0)
        try check(begin() && add(message) && finish(context, &hash) ? 1 : 0)
        return hash
    }

    /// The SHA-256 of the first `count` bytes of `message`, and of all of it, reading each byte
    /// once. Must not be called concurrently.
    func hashes(
        ofFirst count: Int, andAllOf message: Span<UInt8>
    ) throws(OpenSSLError) -> (first: [32 of UInt8], all: [32 of UInt8]) {
        var first: [32 of UInt8] = .init(repeating: 0)
        var all: [32 of UInt8] = .init(repeating: 0)
        try check(
            begin() && add(message.extracting(first: count))
                && openssl.EVP_MD_CTX_copy_ex(spare, context) == 1 && finish(spare, &first)
                && add(message.extracting(droppingFirst: count)) && finish(context, &all) ? 1 : 0)
        return (first, all)
    }

    private func begin() -> Bool {
        // Null keeps the context's algorithm, and resets the context.
        openssl.EVP_DigestInit_ex2(context, nil, nil) == 1
    }

    private func add(_ message: Span<UInt8>) -> Bool {
        message.withUnsafeBytes {
            openssl.EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1
        }
    }

    private func finish(_ context: OpaquePointer, _ hash: inout [32 of UInt8]) -> Bool {
        var bytes = hash.mutableSpan
        return bytes.withUnsafeMutableBufferPointer {
            openssl.EVP_DigestFinal_ex(context, $0.baseAddress, nil) == 1
        }
    }
}
