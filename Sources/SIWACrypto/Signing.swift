internal import SIWACOpenSSL

/// Signs the SHA-256 of `message`: DER for an EC key, PKCS#1 v1.5 for RSA.
func sign(_ message: Span<UInt8>, with key: OpaquePointer) throws(OpenSSLError) -> [UInt8] {
    let context = try Owned<DigestContext>(openssl.EVP_MD_CTX_new())
    try check(openssl.EVP_DigestSignInit(context.pointer, nil, openssl.EVP_sha256(), nil, key))
    var signature = [UInt8](repeating: 0, count: Int(openssl.EVP_PKEY_get_size(key)))
    var length = signature.count
    try check(
        message.withUnsafeBytes { bytes in
            openssl.EVP_DigestSign(
                context.pointer, &signature, &length,
                bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
        })
    signature.removeLast(signature.count - length)
    return signature
}

/// Whether `signature` (DER for an EC key, PKCS#1 v1.5 for RSA) is valid for `message`.
func verify(
    _ signature: [UInt8], over message: Span<UInt8>, with key: OpaquePointer
) throws(OpenSSLError) -> Bool {
    let context = try Owned<DigestContext>(openssl.EVP_MD_CTX_new())
    try check(openssl.EVP_DigestVerifyInit(context.pointer, nil, openssl.EVP_sha256(), nil, key))
    return message.withUnsafeBytes { bytes in
        holds(
            openssl.EVP_DigestVerify(
                context.pointer, signature, signature.count,
                bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count))
    }
}
