internal import SIWACOpenSSL

/// An RSA private key, with which the emulator signs as Apple does.
package final class RSAPrivateKey: Sendable {
    /// Immutable; OpenSSL allows concurrent use of a constant key.
    private nonisolated(unsafe) let pointer: OpaquePointer

    /// The modulus, big-endian.
    package let modulus: [UInt8]

    /// The public exponent, big-endian.
    package let exponent: [UInt8]

    /// Generates a key of 2048 bits.
    package static func generate() throws(OpenSSLError) -> RSAPrivateKey {
        try RSAPrivateKey(adopting: Owned<Key>(siwa_generate_rsa(libcrypto, 2048)))
    }

    /// Reads PKCS#1 (RFC 8017) or PKCS#8, both in DER.
    ///
    /// - Throws: ``OpenSSLError`` if the bytes are not such a key.
    package convenience init(derRepresentation: [UInt8]) throws(OpenSSLError) {
        let decoded = try derRepresentation.span.withUnsafeBufferPointer {
            bytes throws(OpenSSLError) in
            var cursor = bytes.baseAddress
            let key = try Owned<Key>(openssl.d2i_AutoPrivateKey(nil, &cursor, bytes.count))
            return key.release()
        }
        try self.init(adopting: Owned<Key>(decoded))
    }

    private init(adopting key: consuming Owned<Key>) throws(OpenSSLError) {
        modulus = try number(OSSL_PKEY_PARAM_RSA_N, of: key.pointer)
        exponent = try number(OSSL_PKEY_PARAM_RSA_E, of: key.pointer)
        pointer = key.release()
    }

    /// PKCS#8 in PEM (RFC 7468).
    package func pemRepresentation() throws(OpenSSLError) -> SecretBytes {
        try pem { openssl.PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }

    deinit { openssl.EVP_PKEY_free(pointer) }

    /// Signs the SHA-256 of `message` (PKCS#1 v1.5): RS256.
    package func signature(for message: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        try sign(message, with: pointer)
    }

    /// Lends the key for other operations.
    func withPointer<Result, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(pointer)
    }
}

/// A number of a key, big-endian without leading zeros.
private func number(_ name: String, of key: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
    var value: OpaquePointer?
    try check(openssl.EVP_PKEY_get_bn_param(key, name, &value))
    let number = try Owned<BigNumber>(value)
    var bytes = [UInt8](repeating: 0, count: Int(openssl.BN_num_bits(number.pointer) + 7) / 8)
    _ = openssl.BN_bn2bin(number.pointer, &bytes)
    return bytes
}
