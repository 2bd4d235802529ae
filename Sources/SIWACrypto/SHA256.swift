internal import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The 32-byte digest of `message`.
    ///
    /// - Throws: ``OpenSSLError`` when a site's policy has taken SHA-256 away.
    package static func digest(_ message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let hash = try contexts.with { () throws(OpenSSLError) in
            try HashContext()
        } _: { context throws(OpenSSLError) in
            try context.hash(of: message)
        }
        var digest: [UInt8] = []
        digest.append(addingCapacity: 32) { $0.append(contentsOf: hash.span) }
        return digest
    }

    private static let contexts = ReadyContexts<HashContext>()

    /// The 32-byte digest of a text's UTF-8.
    package static func digest(_ text: String) throws(OpenSSLError) -> [UInt8] {
        let bytes = [UInt8](text.utf8)
        return try digest(bytes.span)
    }

    /// OpenSSL's implementation, looked for once: each search takes locks and a while.
    static let algorithm = Result { () throws(OpenSSLError) in
        Algorithm(pointer: try Owned<Digest>(openssl.EVP_MD_fetch(nil, "SHA2-256", nil)).release())
    }

    /// Never freed, never changed.
    struct Algorithm: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer
    }
}
