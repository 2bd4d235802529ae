internal import SIWACOpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The 32-byte digest of `message`.
    ///
    /// - Throws: ``OpenSSLError`` if the system's policy disables SHA-256.
    package static func digest(_ message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let hash = try hash(of: message)
        var digest: [UInt8] = []
        digest.append(addingCapacity: 32) { $0.append(contentsOf: hash.span) }
        return digest
    }

    /// ``digest(_:)`` without an array.
    ///
    /// - Throws: ``OpenSSLError`` if the system's policy disables SHA-256.
    package static func hash(of message: Span<UInt8>) throws(OpenSSLError) -> [32 of UInt8] {
        try contexts.with { () throws(OpenSSLError) in
            try HashContext()
        } _: { context throws(OpenSSLError) in
            try context.hash(of: message)
        }
    }

    /// The digests of the first `count` bytes of `message`, and of all of it, reading each byte
    /// once.
    ///
    /// - Throws: ``OpenSSLError`` if the system's policy disables SHA-256.
    package static func digests(
        ofFirst count: Int, andAllOf message: Span<UInt8>
    ) throws(OpenSSLError) -> (first: [32 of UInt8], all: [32 of UInt8]) {
        try contexts.with { () throws(OpenSSLError) in
            try HashContext()
        } _: { context throws(OpenSSLError) in
            try context.hashes(ofFirst: count, andAllOf: message)
        }
    }

    private static let contexts = ReadyContexts<HashContext>()

    /// The 32-byte digest of a text's UTF-8.
    package static func digest(_ text: String) throws(OpenSSLError) -> [UInt8] {
        let bytes = [UInt8](text.utf8)
        return try digest(bytes.span)
    }

    /// OpenSSL's implementation, which is fetched only once because that is slow.
    static let algorithm = Result { () throws(OpenSSLError) in
        Algorithm(pointer: try Owned<Digest>(openssl.EVP_MD_fetch(nil, "SHA2-256", nil)).release())
    }

    /// Never changed or freed.
    struct Algorithm: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer
    }
}
