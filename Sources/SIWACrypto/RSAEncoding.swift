internal import SIWACOpenSSL

/// What RSA's operation is applied to (RFC 8017): blocks as long as the modulus.
package enum RSAEncoding {
    /// The beginning of a DigestInfo, before the hash (RFC 8017 §9.2).
    private static let sha256Prefix: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
        0x05, 0x00, 0x04, 0x20,
    ]
    private static let sha384Prefix: [UInt8] = [
        0x30, 0x41, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02,
        0x05, 0x00, 0x04, 0x30,
    ]

    /// The DigestInfo of the SHA-256 of `message`.
    package static func digestInfo256(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        sha256Prefix + (try SHA256.digest(message.span))
    }

    /// The DigestInfo of the SHA-384 of `message`.
    package static func digestInfo384(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        sha384Prefix + (try sha384(message))
    }

    /// EMSA-PKCS1-v1_5 (§9.2): a DigestInfo behind `FF` bytes, `length` bytes in all.
    package static func pkcs1(_ digestInfo: [UInt8], length: Int = 256) -> [UInt8] {
        let padding = max(0, length - 3 - digestInfo.count)
        return [0, 1] + [UInt8](repeating: 0xFF, count: padding) + [0] + digestInfo
    }

    /// EMSA-PSS (§9.1) with SHA-256 and a given salt, for a modulus of `length` whole bytes.
    package static func pss(
        _ message: [UInt8], salt: [UInt8], length: Int = 256
    ) throws(OpenSSLError) -> [UInt8] {
        let inner = [UInt8](repeating: 0, count: 8) + (try SHA256.digest(message.span)) + salt
        let hash = try SHA256.digest(inner.span)
        let space = length - hash.count - 1
        let block = [UInt8](repeating: 0, count: max(0, space - salt.count - 1)) + [1] + salt
        var masked = xor(block, try mask(hash, space))
        masked[0] &= 0x7F
        return masked + hash + [0xBC]
    }

    /// EME-OAEP (§7.1.1) with SHA-256, no label and a given seed of 32 bytes.
    package static func oaep(
        _ message: [UInt8], seed: [UInt8], length: Int = 256
    ) throws(OpenSSLError) -> [UInt8] {
        let label = try SHA256.digest([UInt8]().span)
        let padding = max(0, length - message.count - 2 * label.count - 2)
        let block = label + [UInt8](repeating: 0, count: padding) + [1] + message
        let masked = xor(block, try mask(seed, block.count))
        return [0] + xor(seed, try mask(masked, seed.count)) + masked
    }

    /// MGF1 with SHA-256 (§B.2.1).
    private static func mask(_ seed: [UInt8], _ count: Int) throws(OpenSSLError) -> [UInt8] {
        var mask: [UInt8] = []
        var counter: UInt8 = 0
        while mask.count < count {
            let input = seed + [0, 0, 0, counter]
            mask += try SHA256.digest(input.span)
            counter += 1
        }
        return Array(mask.prefix(count))
    }

    private static func xor(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        zip(one, other).map { $0 ^ $1 }
    }

    private static func sha384(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try Arithmetic.load()
        var (digest, length) = ([UInt8](repeating: 0, count: 48), 0)
        try check(
            arithmetic.EVP_Q_digest(
                nil, "SHA384", nil, message, message.count, &digest, &length))
        return digest
    }
}

extension RSAPrivateKey {
    /// Applies the private operation (RSASP1, RFC 8017 §5.2.1) to a block as long as the modulus.
    ///
    /// - Throws: ``OpenSSLError`` if the block is not below the modulus or has another length.
    package func signature(ofBlock block: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try withPointer { key throws(OpenSSLError) in
            let context = try Owned<KeyContext>(
                openssl.EVP_PKEY_CTX_new_from_pkey(nil, key, nil))
            try check(openssl.EVP_PKEY_sign_init(context.pointer))
            try check(openssl.EVP_PKEY_CTX_set_rsa_padding(context.pointer, RSA_NO_PADDING))
            var signature = [UInt8](repeating: 0, count: Int(openssl.EVP_PKEY_get_size(key)))
            var length = signature.count
            try check(
                openssl.EVP_PKEY_sign(
                    context.pointer, &signature, &length, block, block.count))
            return signature
        }
    }
}

extension RSAPublicKey {
    /// Applies the public operation (RSAEP, RFC 8017 §5.1.1) to a block as long as the modulus.
    ///
    /// - Throws: ``OpenSSLError`` if the block is not below the modulus or has another length.
    package func encryption(ofBlock block: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try Arithmetic.load()
        return try withPointer { key throws(OpenSSLError) in
            let context = try Owned<KeyContext>(
                openssl.EVP_PKEY_CTX_new_from_pkey(nil, key, nil))
            try check(arithmetic.EVP_PKEY_encrypt_init(context.pointer))
            try check(openssl.EVP_PKEY_CTX_set_rsa_padding(context.pointer, RSA_NO_PADDING))
            var result = [UInt8](repeating: 0, count: modulus.count)
            var length = result.count
            try check(
                arithmetic.EVP_PKEY_encrypt(
                    context.pointer, &result, &length, block, block.count))
            return result
        }
    }
}
