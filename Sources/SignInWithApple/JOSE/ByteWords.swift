/// Looks at eight bytes of a text at a time, where a byte at a time would take most of the time.
extension Span<UInt8> {
    /// The first index from `start` on whose byte is marked; the count where none is.
    ///
    /// - Parameter marks: marks bytes of a word, as the functions of ``UInt64`` below do.
    @inline(__always)
    func index(from start: Int = 0, _ marks: (UInt64) -> UInt64) -> Int {
        var index = start
        while index < count {
            let length = Swift.min(8, count - index)
            let marked =
                marks(word(at: index, length)) & (UInt64(repeating: 0x80) >> (64 - 8 * length))
            guard marked == 0 else { return index + marked.trailingZeroBitCount / 8 }
            index += length
        }
        return index
    }

    /// Up to eight bytes, the first of them lowest.
    @inline(__always)
    private func word(at index: Int, _ length: Int) -> UInt64 {
        let bytes = extracting(index..<index + length)
        var word: UInt64 = 0
        if length == 8 {
            // A known number of them: the optimiser makes one load of eight.
            for offset in 0..<8 { word |= UInt64(bytes[offset]) << UInt64(offset * 8) }
        } else {
            for offset in bytes.indices { word |= UInt64(bytes[offset]) << UInt64(offset * 8) }
        }
        return word
    }
}

// A byte is marked by its highest bit; the others mean nothing. Behind the first marked byte, what
// was borrowed from a byte may mark another by mistake.
extension UInt64 {
    /// Marks the bytes that are `byte`.
    func marking(_ byte: UInt8) -> UInt64 {
        let difference = self ^ UInt64(repeating: byte)
        return (difference &- UInt64(repeating: 1)) & ~difference
    }

    /// Marks the bytes below `bound`, which is at most 0x80.
    func marking(below bound: UInt8) -> UInt64 { (self &- UInt64(repeating: bound)) & ~self }

    fileprivate init(repeating byte: UInt8) { self = UInt64(byte) &* 0x0101_0101_0101_0101 }
}
