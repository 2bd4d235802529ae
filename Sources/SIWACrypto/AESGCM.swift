internal import COpenSSL

/// Authenticated encryption with AES-256 in Galois/Counter Mode (NIST SP 800-38D).
package enum AESGCM {
    /// The length of a key in bytes.
    package static let keyLength = 32
    private static let nonceLength = 12
    private static let tagLength = 16

    /// Encrypts a text with a new random nonce of 96 bits, which is safe for 2³² texts per key.
    ///
    /// - Parameters:
    ///   - key: ``keyLength`` bytes.
    ///   - context: additional authenticated data, which is not part of the result but needed to
    ///     decrypt it.
    /// - Returns: nonce, ciphertext, tag.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails, for example if the system's policy disables
    ///   AES.
    package static func seal(
        _ text: SecretBytes, with key: SecretBytes, authenticating context: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        let nonce = try Random.bytes(nonceLength)
        let cipher = try begin(key, nonce, context, isSealing: true)
        var sealed = [UInt8](repeating: 0, count: text.count)
        var room = sealed.mutableSpan
        try room.withUnsafeMutableBytes { room throws(OpenSSLError) in
            try text.withUnsafeBytes { text throws(OpenSSLError) in
                try run(cipher, text, into: room)
            }
        }
        var tag = [UInt8](repeating: 0, count: tagLength)
        var rest = [UInt8](repeating: 0, count: tagLength)
        var written: CInt = 0
        try check(openssl.EVP_CipherFinal_ex(cipher.pointer, &rest, &written))
        try check(
            openssl.EVP_CIPHER_CTX_ctrl(
                cipher.pointer, EVP_CTRL_AEAD_GET_TAG, CInt(tagLength), &tag))
        return nonce + sealed + tag
    }

    /// Decrypts the result of ``seal(_:with:authenticating:)``.
    ///
    /// - Returns: the text; nil if the text, the key or `context` was changed.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails for another reason.
    package static func open(
        _ sealed: [UInt8], with key: SecretBytes, authenticating context: [UInt8]
    ) throws(OpenSSLError) -> SecretBytes? {
        guard sealed.count >= nonceLength + tagLength else { return nil }
        let nonce = Array(sealed[..<nonceLength])
        var tag = Array(sealed[(sealed.count - tagLength)...])
        let hidden = sealed[nonceLength..<sealed.count - tagLength]
        let cipher = try begin(key, nonce, context, isSealing: false)
        try check(
            openssl.EVP_CIPHER_CTX_ctrl(
                cipher.pointer, EVP_CTRL_AEAD_SET_TAG, CInt(tagLength), &tag))
        var text = SecretBuffer(capacity: hidden.count)
        _ = try text.append(upTo: hidden.count) { room throws(OpenSSLError) in
            try hidden.span.withUnsafeBytes { hidden throws(OpenSSLError) in
                try run(cipher, hidden, into: room)
            }
            return hidden.count
        }
        var rest = [UInt8](repeating: 0, count: tagLength)
        var written: CInt = 0
        return holds(openssl.EVP_CipherFinal_ex(cipher.pointer, &rest, &written))
            ? text.finished() : nil
    }

    private static func begin(
        _ key: SecretBytes, _ nonce: [UInt8], _ context: [UInt8], isSealing: Bool
    ) throws(OpenSSLError) -> Owned<CipherContext> {
        guard key.count == keyLength else {
            throw OpenSSLError(reasons: ["the key has \(key.count) bytes, not \(keyLength)"])
        }
        let algorithm = try algorithm.get().pointer
        let cipher = try Owned<CipherContext>(openssl.EVP_CIPHER_CTX_new())
        try key.withUnsafeBytes { key throws(OpenSSLError) in
            try check(
                openssl.EVP_CipherInit_ex2(
                    cipher.pointer, algorithm, key.baseAddress, nonce, isSealing ? 1 : 0, nil))
        }
        var written: CInt = 0
        try check(
            openssl.EVP_CipherUpdate(
                cipher.pointer, nil, &written, context, CInt(clamping: context.count)))
        return cipher
    }

    /// Encrypts or decrypts bytes; the output has the same length.
    private static func run(
        _ cipher: borrowing Owned<CipherContext>, _ bytes: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) {
        guard !bytes.isEmpty else { return }
        let pointer = cipher.pointer
        var written: CInt = 0
        try check(
            openssl.EVP_CipherUpdate(
                pointer, output.baseAddress, &written, bytes.baseAddress,
                CInt(clamping: bytes.count)))
    }

    /// Never changed or freed.
    private struct Algorithm: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer
    }

    private static let algorithm = Result { () throws(OpenSSLError) in
        Algorithm(
            pointer: try Owned<Cipher>(openssl.EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)).release())
    }
}
