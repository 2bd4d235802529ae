internal import SIWACOpenSSL

/// A P-256 private key (secp256r1), which signs ES256.
package final class P256PrivateKey: Sendable {
    /// Immutable; OpenSSL allows concurrent use of a constant key, and clears the scalar when it
    /// frees it.
    private nonisolated(unsafe) let pointer: OpaquePointer

    /// The public key.
    package let publicKey: P256PublicKey

    private let contexts = ReadyContexts<ReadyContext>()

    private init(adopting key: consuming Owned<Key>) throws(OpenSSLError) {
        publicKey = try P256PublicKey(of: key.pointer)
        pointer = key.release()
    }

    /// Checks the range of the scalar and that both halves belong together, which reading a key
    /// does not.
    private convenience init(checking key: consuming Owned<Key>) throws(OpenSSLError) {
        let context = try Owned<KeyContext>(
            openssl.EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil))
        try check(openssl.EVP_PKEY_pairwise_check(context.pointer))
        try self.init(adopting: key)
    }

    /// Reads PKCS#8 (RFC 5208), as Apple issues it, or SEC 1 (RFC 5915), both in DER.
    ///
    /// - Throws: ``P256KeyError``, which names what the bytes are instead.
    package convenience init(derRepresentation: SecretBytes) throws(P256KeyError) {
        do throws(OpenSSLError) {
            if let parts = ApplePKCS8(derRepresentation) {
                try self.init(checking: parts.key())
                return
            }
        } catch {
            throw .inconsistent
        }
        let decoded: Owned<Key>
        do throws(OpenSSLError) {
            decoded = try Owned<Key>(
                derRepresentation.withUnsafeBytes { bytes in
                    var cursor = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                    return openssl.d2i_AutoPrivateKey(nil, &cursor, bytes.count)
                })
        } catch {
            throw .unreadable(error)
        }
        try requireP256(decoded.pointer)
        do throws(OpenSSLError) {
            try self.init(checking: decoded)
        } catch {
            throw .inconsistent
        }
    }

    /// Creates a key from its number and its point.
    convenience init(scalar: SecretBytes, point: [UInt8]) throws(OpenSSLError) {
        try self.init(
            checking: ellipticKey(
                point: point, scalar: scalar, selection: siwa_selection_keypair()))
    }

    /// Generates a key, for the emulator and for tests.
    package static func generate() throws(OpenSSLError) -> P256PrivateKey {
        try P256PrivateKey(adopting: Owned<Key>(siwa_generate_p256(libcrypto)))
    }

    deinit { openssl.EVP_PKEY_free(pointer) }

    /// Signs the SHA-256 of `message`, and verifies the signature: a fault in the arithmetic of
    /// ECDSA can reveal the key, and a key pair whose halves do not match signs without an error.
    ///
    /// - Parameter isVerified: false for callers that sign thousands and verify those that matter.
    /// - Throws: ``OpenSSLError`` if signing fails or the signature does not verify.
    package func signature(
        for message: Span<UInt8>, isVerified: Bool = true
    ) throws(OpenSSLError) -> P256Signature {
        let signature = try P256Signature(der: derSignature(for: message))
        guard isVerified else { return signature }
        guard try publicKey.isValidSignature(signature, for: message) else {
            throw OpenSSLError(
                reasons: ["the signature does not verify with the key's own public half"])
        }
        return signature
    }

    private func derSignature(for message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        try contexts.with { () throws(OpenSSLError) in
            try ReadyContext(pointer) { context throws(OpenSSLError) in
                try check(openssl.EVP_PKEY_sign_init(context))
            }
        } _: { context throws(OpenSSLError) in
            try context.signature(for: message, longest: Int(openssl.EVP_PKEY_get_size(pointer)))
        }
    }

    /// PKCS#8 in PEM (RFC 7468), the format of Apple's `.p8` files.
    package func pemRepresentation() throws(OpenSSLError) -> SecretBytes {
        try pem { openssl.PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }

    /// Lends the key for creating certificates.
    func withPointer<Result, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(pointer)
    }
}
