internal import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The 32-byte digest of `message`.
    ///
    /// - Throws: ``OpenSSLError`` when a site's policy has taken SHA-256 away.
    package static func digest(_ message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let algorithm = try algorithm.get().pointer
        try check(
            message.withUnsafeBytes { bytes in
                openssl.EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, algorithm, nil)
            })
        return digest
    }

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
