internal import SIWACOpenSSL
internal import Synchronization

/// An RSA public key of 2048 bits or more, which verifies RS256.
///
/// OpenSSL's key is created when it is first used, because a token needs only one of Apple's keys.
package final class RSAPublicKey: Sendable {
    /// The size of the modulus in bits.
    package let bits: Int

    /// The modulus, big-endian without leading zeros.
    package let modulus: [UInt8]
    /// The public exponent, big-endian without leading zeros.
    package let exponent: [UInt8]

    /// Immutable; OpenSSL allows concurrent use of a constant key.
    private let made = Mutex<KeyPointer?>(nil)

    private let contexts = ReadyContexts<ReadyContext>()

    private struct KeyPointer: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Creates a key from modulus and exponent, big-endian (RFC 7518 §6.3.1).
    ///
    /// - Throws: ``OpenSSLError`` if they are not those of a key of 2048 bits (RFC 7518 §3.3) to
    ///   16,384 bits (OpenSSL's limit).
    package init(modulus: [UInt8], exponent: [UInt8]) throws(OpenSSLError) {
        guard Self.isPlausible(modulus: modulus, exponent: exponent) else {
            throw OpenSSLError(reasons: ["the numbers are not those of an RSA key"])
        }
        self.modulus = Array(modulus.drop { $0 == 0 })
        self.exponent = Array(exponent.drop { $0 == 0 })
        bits = self.modulus.count * 8 - (self.modulus.first?.leadingZeroBitCount ?? 0)
        guard (2048...16_384).contains(bits) else {
            throw OpenSSLError(reasons: ["the key has \(bits) bits"])
        }
    }

    /// Both numbers must be odd and the exponent at least 3 (RFC 8017 §3.1), which OpenSSL does not
    /// check: with the exponent 1, every message is its own signature.
    private static func isPlausible(modulus: [UInt8], exponent: [UInt8]) -> Bool {
        guard let lowest = modulus.last, let last = exponent.last else { return false }
        return lowest & 1 == 1 && last & 1 == 1 && exponent.drop { $0 == 0 } != [1]
    }

    deinit {
        if let key = made.withLock({ $0 }) { openssl.EVP_PKEY_free(key.pointer) }
    }

    /// Whether `signature` is this key's signature of the SHA-256 of `message` (PKCS#1 v1.5).
    ///
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    package func isValidSignature(
        _ signature: [UInt8], for message: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        try withContext { context throws(OpenSSLError) in
            try context.isValid(signature, for: message)
        }
    }

    /// Whether `signature` is this key's signature of what has this SHA-256 (PKCS#1 v1.5).
    ///
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    package func isValidSignature(
        _ signature: [UInt8], forHash hash: [32 of UInt8]
    ) throws(OpenSSLError) -> Bool {
        try withContext { context in context.isValid(signature, forHash: hash) }
    }

    private func withContext(
        _ body: (ReadyContext) throws(OpenSSLError) -> Bool
    ) throws(OpenSSLError) -> Bool {
        try contexts.with { () throws(OpenSSLError) in
            try ReadyContext(key().pointer) { context throws(OpenSSLError) in
                try check(openssl.EVP_PKEY_verify_init(context))
                try check(openssl.EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING))
            }
        } _: { context throws(OpenSSLError) in
            try body(context)
        }
    }

    /// Lends the key for other operations.
    func withPointer<Result>(
        _ body: (OpaquePointer) throws(OpenSSLError) -> Result
    ) throws(OpenSSLError) -> Result {
        try body(key().pointer)
    }

    private func key() throws(OpenSSLError) -> KeyPointer {
        try made.withLock { made throws(OpenSSLError) in
            if let made { return made }
            let key = try makeKey()
            made = key
            return key
        }
    }

    private func makeKey() throws(OpenSSLError) -> KeyPointer {
        let builder = try Owned<ParameterBuilder>(openssl.OSSL_PARAM_BLD_new())
        let n = try Owned<BigNumber>(openssl.BN_bin2bn(modulus, CInt(modulus.count), nil))
        let e = try Owned<BigNumber>(openssl.BN_bin2bn(exponent, CInt(exponent.count), nil))
        try check(openssl.OSSL_PARAM_BLD_push_BN(builder.pointer, siwa_name_modulus, n.pointer))
        try check(openssl.OSSL_PARAM_BLD_push_BN(builder.pointer, siwa_name_exponent, e.pointer))
        let made = try SIWACrypto.key(
            "RSA", from: builder.pointer, selection: siwa_selection_public_key())
        // The builder kept pointers to both numbers until here.
        withExtendedLifetime(n) {}
        withExtendedLifetime(e) {}
        return KeyPointer(pointer: made.release())
    }
}

extension RSAPublicKey: Equatable {
    /// Whether two keys have the same numbers.
    package static func == (one: RSAPublicKey, other: RSAPublicKey) -> Bool {
        one.modulus == other.modulus && one.exponent == other.exponent
    }
}
