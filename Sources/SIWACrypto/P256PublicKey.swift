internal import SIWACOpenSSL

/// The public half of a P-256 key (secp256r1), which verifies ES256.
package final class P256PublicKey: Sendable {
    /// Immutable; OpenSSL allows concurrent use of a constant key.
    private nonisolated(unsafe) let pointer: OpaquePointer

    /// The uncompressed point: 0x04, x, y; 65 bytes (SEC 1 §2.3.3).
    package let x963Representation: [UInt8]

    /// Creates a key from an uncompressed point.
    ///
    /// - Throws: ``OpenSSLError`` if it is not a point on the curve. OpenSSL alone would accept the
    ///   point at infinity, with which any signature verifies.
    package init(x963Representation: [UInt8]) throws(OpenSSLError) {
        guard x963Representation.count == 65, x963Representation[0] == 4 else {
            throw OpenSSLError(reasons: ["the public point is not uncompressed"])
        }
        pointer = try ellipticKey(
            point: x963Representation, selection: siwa_selection_public_key()
        ).release()
        self.x963Representation = x963Representation
    }

    /// The public key of a private key. Both share one OpenSSL key, because creating another one
    /// would take as long as verifying a signature. The scalar is freed with the last of them.
    init(of privateKey: OpaquePointer) throws(OpenSSLError) {
        x963Representation = try publicPoint(of: privateKey)
        try check(openssl.EVP_PKEY_up_ref(privateKey))
        pointer = privateKey
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5480).
    ///
    /// - Throws: ``P256KeyError`` if it is not a P-256 public key.
    package convenience init(derRepresentation: [UInt8]) throws(P256KeyError) {
        let point = try Self.point(of: derRepresentation)
        do throws(OpenSSLError) {
            try self.init(x963Representation: point)
        } catch {
            throw .unreadable(error)
        }
    }

    private static func point(of subjectPublicKeyInfo: [UInt8]) throws(P256KeyError) -> [UInt8] {
        let key: Owned<Key>
        do throws(OpenSSLError) {
            key = try Owned<Key>(
                subjectPublicKeyInfo.withUnsafeBufferPointer { bytes in
                    var cursor = bytes.baseAddress
                    return openssl.d2i_PUBKEY(nil, &cursor, bytes.count)
                })
        } catch {
            throw .unreadable(error)
        }
        try requireP256(key.pointer)
        do throws(OpenSSLError) {
            return try publicPoint(of: key.pointer)
        } catch {
            throw .unreadable(error)
        }
    }

    deinit { openssl.EVP_PKEY_free(pointer) }

    /// Whether `signature` is this key's signature of the SHA-256 of `message`.
    ///
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    package func isValidSignature(
        _ signature: P256Signature, for message: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        try verify(signature.der(), over: message, with: pointer)
    }

    /// SubjectPublicKeyInfo in DER (RFC 5480).
    package func derRepresentation() throws(OpenSSLError) -> [UInt8] {
        let length = openssl.i2d_PUBKEY(pointer, nil)
        guard length > 0 else { throw .drained() }
        var der = [UInt8](repeating: 0, count: Int(length))
        der.withUnsafeMutableBufferPointer { bytes in
            var cursor = bytes.baseAddress
            _ = openssl.i2d_PUBKEY(pointer, &cursor)
        }
        return der
    }

    /// SubjectPublicKeyInfo in PEM (RFC 7468).
    package func pemRepresentation() throws(OpenSSLError) -> String {
        String(
            decoding: try pem { openssl.PEM_write_bio_PUBKEY($0, pointer) }.revealed(),
            as: UTF8.self)
    }
}
