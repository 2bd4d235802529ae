package import SIWACrypto

extension SecretBytes {
    /// The text without the byte order mark that some editors write at its beginning, which would
    /// be sent to Apple as part of a token.
    package var withoutByteOrderMark: SecretBytes {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return withUnsafeBytes { bytes in
            guard bytes.starts(with: mark) else { return self }
            var rest = SecretBuffer(capacity: bytes.count - mark.count)
            rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[mark.count...]))
            return rest.finished()
        }
    }
}
