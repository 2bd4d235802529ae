/// Looks at eight bytes of a text at a time, where a byte at a time would take most of the time.
extension Span<UInt8> {
    /// The first index from `start` on whose byte is marked; the count where none is.
    ///
    /// - Parameter marks: marks bytes of a word, as the functions of ``UInt64`` below do.
    @inline(__always)
    func index(from start: Int = 0, _ marks: (UInt64) -> UInt64) -> Int {
        var index = start
        while count - index >= 8 {
            let marked = marks(word(at: index)) & UInt64(repeating: 0x80)
            guard marked == 0 else { return index + marked.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, marks(UInt64(repeating: self[index])) & 0x80 == 0 { index += 1 }
        return index
    }

    /// Eight bytes, the first of them lowest.
    private func word(at index: Int) -> UInt64 {
        let bytes = extracting(index..<index + 8)
        var word: UInt64 = 0
        for offset in 0..<8 { word |= UInt64(bytes[offset]) << UInt64(offset * 8) }
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
