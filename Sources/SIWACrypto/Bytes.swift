internal import Glibc

// Operations of C on runs of bytes, for the targets that are checked for unsafe code.

extension Span<UInt8> {
    /// The first index of `byte` from `start` on; nil if absent.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        withUnsafeBytes { bytes in
            UnsafeRawBufferPointer(rebasing: bytes[start...]).firstIndex(ofByte: byte)
                .map { $0 + start }
        }
    }

    /// Equal byte by byte.
    @inlinable
    package func isExactly(_ other: Span<UInt8>) -> Bool {
        // Inlined into the caller, because most lengths differ.
        count == other.count && hasSameBytes(as: other)
    }

    /// Equal byte by byte.
    @inlinable
    package func isExactly(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && text.withSpan { hasSameBytes(as: $0) }
    }

    /// - Parameter other: a span of the same length.
    @usableFromInline
    package func hasSameBytes(as other: Span<UInt8>) -> Bool {
        withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let one = one.baseAddress, let other = other.baseAddress else { return true }
                return memcmp(one, other, count) == 0
            }
        }
    }
}

extension String {
    /// Creates a text from at most `capacity` bytes of UTF-8 that `fill` appends.
    package init(capacity: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) {
        self.init(unsafeUninitializedCapacity: capacity) { buffer in
            var output = OutputSpan(buffer: buffer, initializedCount: 0)
            fill(&output)
            return output.finalize(for: buffer)
        }
    }
}

extension StaticString {
    /// Lends its UTF-8 without a copy.
    @inlinable
    package func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        withUTF8Buffer { body(Span(_unsafeElements: $0)) }
    }

    /// Equal byte by byte.
    package func isExactly(_ other: Self) -> Bool {
        guard utf8CodeUnitCount == other.utf8CodeUnitCount else { return false }
        return utf8Start == other.utf8Start || withSpan { $0.isExactly(other) }
    }
}

extension UnsafeRawBufferPointer {
    /// The first place of `byte`: `firstIndex(of:)` compares one byte at a time.
    package func firstIndex(ofByte byte: UInt8) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, CInt(byte), count) else {
            return nil
        }
        return UnsafeRawPointer(found) - baseAddress
    }
}

extension OutputSpan<UInt8> {
    /// Appends `bytes`; there must be enough free capacity.
    @inlinable
    package mutating func append(contentsOf bytes: Span<UInt8>) {
        precondition(bytes.count <= freeCapacity)
        withUnsafeMutableBufferPointer { buffer, count in
            bytes.withUnsafeBytes { bytes in
                guard let start = buffer.baseAddress, let source = bytes.baseAddress else { return }
                UnsafeMutableRawPointer(start + count).copyMemory(
                    from: source, byteCount: bytes.count)
            }
            count += bytes.count
        }
    }

    /// Appends a text in UTF-8; there must be enough free capacity.
    @inlinable
    package mutating func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        precondition(length <= freeCapacity)
        withUnsafeMutableBufferPointer { buffer, count in
            guard let start = buffer.baseAddress else { return }
            UnsafeMutableRawPointer(start + count).copyMemory(
                from: text.utf8Start, byteCount: length)
            count += length
        }
    }
}

/// Decodes blocks of four characters of a 64-character alphabet, with one look-up per character and
/// one check per block.
package struct BlockDecoder: Sendable {
    /// For each position in a block, the bits that each character contributes; ``bad`` for a
    /// character that is not in the alphabet. Never freed.
    private nonisolated(unsafe) let parts: UnsafePointer<UInt32>

    private static let bad: UInt32 = 0xFF00_0000

    /// - Parameter digits: the value of each of 256 characters; 64 or more if it is not in the
    ///   alphabet.
    package init(digits: [UInt8]) {
        precondition(digits.count == 256)
        let parts = UnsafeMutablePointer<UInt32>.allocate(capacity: 4 * 256)
        for place in 0..<4 {
            for (character, digit) in digits.enumerated() {
                (parts + 256 * place + character).initialize(
                    to: digit < 64 ? UInt32(digit) << UInt32(18 - 6 * place) : Self.bad)
            }
        }
        self.parts = UnsafePointer(parts)
    }

    /// Decodes blocks up to the first invalid one or the end of the capacity; returns the number of
    /// decoded characters.
    package func decode(_ text: Span<UInt8>, into bytes: inout OutputSpan<UInt8>) -> Int {
        // Each block is written with a fourth byte, which the next one overwrites.
        let blocks = min(text.count / 4, (bytes.freeCapacity - 1) / 3)
        guard blocks > 0 else { return 0 }
        return text.withUnsafeBufferPointer { text in
            bytes.withUnsafeMutableBufferPointer { bytes, count in
                guard let text = text.baseAddress, let start = bytes.baseAddress else { return 0 }
                let decoded = decode(blocks, from: text, to: start + count)
                count += decoded * 3
                return decoded * 4
            }
        }
    }

    private func decode(
        _ blocks: Int, from text: UnsafePointer<UInt8>, to bytes: UnsafeMutablePointer<UInt8>
    ) -> Int {
        var (text, bytes) = (text, bytes)
        for block in 0..<blocks {
            let bits =
                parts[Int(text[0])] | parts[256 + Int(text[1])]
                | parts[512 + Int(text[2])] | parts[768 + Int(text[3])]
            guard bits < Self.bad else { return block }
            UnsafeMutableRawPointer(bytes).storeBytes(
                of: (bits << 8).bigEndian, as: UInt32.self)
            text += 4
            bytes += 3
        }
        return blocks
    }
}
