internal import SIWACOpenSSL

/// Authenticated encryption with AES-256 in Galois/Counter Mode (NIST SP 800-38D).
package enum AESGCM {
    /// The length of a key in bytes.
    package static let keyLength = 32
    private static let nonceLength = 12
    private static let tagLength = 16

    /// A key with OpenSSL contexts that are reused, because creating one takes longer than sealing
    /// a token.
    package final class Key: Sendable {
        /// The ``keyLength`` bytes of the key.
        package let bytes: SecretBytes
        fileprivate let sealing = ReadyContexts<KeyedCipher>()
        fileprivate let opening = ReadyContexts<KeyedCipher>()

        /// Creates a key from its bytes.
        package init(_ bytes: SecretBytes) { self.bytes = bytes }
    }

    /// Encrypts a text with a new random nonce of 96 bits, which is safe for 2³² texts per key.
    ///
    /// - Parameter context: additional authenticated data, which is not part of the result but
    ///   needed to decrypt it.
    /// - Returns: nonce, ciphertext, tag.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails, for example if the system's policy disables
    ///   AES.
    package static func seal(
        _ text: SecretBytes, with key: Key, authenticating context: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        try key.sealing.with { () throws(OpenSSLError) in
            try KeyedCipher(key.bytes, isSealing: true)
        } _: { cipher throws(OpenSSLError) in
            try cipher.seal(text, context)
        }
    }

    /// Encrypts test data with a given nonce of 96 bits, which must not be used twice with a key
    /// that protects something.
    ///
    /// - Returns: nonce, ciphertext, tag.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails.
    package static func seal(
        _ text: SecretBytes, with key: Key, nonce: [UInt8], authenticating context: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        guard nonce.count == nonceLength else {
            throw OpenSSLError(reasons: ["the nonce has \(nonce.count) bytes, not \(nonceLength)"])
        }
        return try KeyedCipher(key.bytes, isSealing: true).seal(text, context, nonce: nonce)
    }

    /// Decrypts the result of ``seal(_:with:authenticating:)``.
    ///
    /// - Returns: the text; nil if the text, the key or `context` was changed.
    /// - Throws: ``OpenSSLError`` if OpenSSL fails for another reason.
    package static func open(
        _ sealed: [UInt8], with key: Key, authenticating context: [UInt8]
    ) throws(OpenSSLError) -> SecretBytes? {
        guard sealed.count >= nonceLength + tagLength else { return nil }
        return try key.opening.with { () throws(OpenSSLError) in
            try KeyedCipher(key.bytes, isSealing: false)
        } _: { cipher throws(OpenSSLError) in
            try cipher.open(sealed, context)
        }
    }

    /// OpenSSL's context for one key and one direction. Must not be called concurrently.
    fileprivate final class KeyedCipher: Sendable {
        private nonisolated(unsafe) let context: OpaquePointer
        private let isSealing: Bool

        init(_ key: SecretBytes, isSealing: Bool) throws(OpenSSLError) {
            guard key.count == keyLength else {
                throw OpenSSLError(reasons: ["the key has \(key.count) bytes, not \(keyLength)"])
            }
            let algorithm = try algorithm.get().pointer
            let cipher = try Owned<CipherContext>(openssl.EVP_CIPHER_CTX_new())
            try key.withUnsafeBytes { key throws(OpenSSLError) in
                try check(
                    openssl.EVP_CipherInit_ex2(
                        cipher.pointer, algorithm, key.baseAddress, nil, isSealing ? 1 : 0, nil))
            }
            (context, self.isSealing) = (cipher.release(), isSealing)
        }

        // Also overwrites the key.
        deinit { openssl.EVP_CIPHER_CTX_free(context) }

        /// - Parameter nonce: nil for a random one.
        func seal(
            _ text: SecretBytes, _ place: [UInt8], nonce: [UInt8]? = nil
        ) throws(OpenSSLError) -> [UInt8] {
            let end = nonceLength + text.count
            var sealed = [UInt8](repeating: 0, count: end + tagLength)
            var bytes = sealed.mutableSpan
            try bytes.withUnsafeMutableBytes { bytes throws(OpenSSLError) in
                if let nonce {
                    bytes.copyBytes(from: nonce)
                } else {
                    try check(openssl.RAND_bytes(bytes.baseAddress, CInt(nonceLength)))
                }
                try begin(UnsafeRawBufferPointer(rebasing: bytes[..<nonceLength]), place)
                try text.withUnsafeBytes { text throws(OpenSSLError) in
                    try run(text, into: bytes[nonceLength..<end])
                }
                try check(finish())
                try check(
                    openssl.EVP_CIPHER_CTX_ctrl(
                        context, EVP_CTRL_AEAD_GET_TAG, CInt(tagLength),
                        bytes.baseAddress.map { $0 + end }))
            }
            return sealed
        }

        func open(_ sealed: [UInt8], _ place: [UInt8]) throws(OpenSSLError) -> SecretBytes? {
            try sealed.span.withUnsafeBytes { sealed throws(OpenSSLError) in
                try begin(UnsafeRawBufferPointer(rebasing: sealed[..<nonceLength]), place)
                let hidden = sealed[nonceLength..<sealed.count - tagLength]
                var tag = Array(sealed[hidden.endIndex...])
                try check(
                    openssl.EVP_CIPHER_CTX_ctrl(
                        context, EVP_CTRL_AEAD_SET_TAG, CInt(tagLength), &tag))
                var text = SecretBuffer(capacity: hidden.count)
                _ = try text.append(upTo: hidden.count) { room throws(OpenSSLError) in
                    try run(UnsafeRawBufferPointer(rebasing: hidden), into: room[...])
                    return hidden.count
                }
                return holds(finish()) ? text.finished() : nil
            }
        }

        /// Resets the context with a new nonce and the same key.
        private func begin(
            _ nonce: UnsafeRawBufferPointer, _ place: [UInt8]
        ) throws(OpenSSLError) {
            try check(
                openssl.EVP_CipherInit_ex2(
                    context, nil, nil, nonce.baseAddress, isSealing ? 1 : 0, nil))
            var written: CInt = 0
            try check(
                openssl.EVP_CipherUpdate(
                    context, nil, &written, place, CInt(clamping: place.count)))
        }

        /// Encrypts or decrypts bytes; the output has the same length.
        private func run(
            _ bytes: UnsafeRawBufferPointer, into output: Slice<UnsafeMutableRawBufferPointer>
        ) throws(OpenSSLError) {
            guard !bytes.isEmpty else { return }
            var written: CInt = 0
            try check(
                openssl.EVP_CipherUpdate(
                    context, UnsafeMutableRawBufferPointer(rebasing: output).baseAddress, &written,
                    bytes.baseAddress, CInt(clamping: bytes.count)))
        }

        private func finish() -> CInt {
            var (rest, written): ([16 of UInt8], CInt) = (.init(repeating: 0), 0)
            var room = rest.mutableSpan
            return room.withUnsafeMutableBytes {
                openssl.EVP_CipherFinal_ex(context, $0.baseAddress, &written)
            }
        }
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
