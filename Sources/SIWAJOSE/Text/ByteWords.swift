/// Examines eight bytes of a text at a time, because one at a time would be slow.
extension Span<UInt8> {
    /// The first index from `start` on whose byte is marked; the count if no byte is marked.
    ///
    /// - Parameter marks: marks bytes of a word, as the functions of ``UInt64`` below do.
    @inlinable @inline(__always)
    package func index(from start: Int = 0, _ marks: (UInt64) -> UInt64) -> Int {
        var rest = extracting(droppingFirst: start)
        while rest.count >= 8 {
            let marked = marks(rest.firstWord) & UInt64(repeating: 0x80)
            guard marked == 0 else {
                return count &- rest.count &+ marked.trailingZeroBitCount / 8
            }
            rest = rest.extracting(droppingFirst: 8)
        }
        guard rest.count > 0 else { return count }
        if count - start >= 8 {
            // The last eight bytes, including some that are known not to be marked.
            let marked = marks(extracting(last: 8).firstWord) & UInt64(repeating: 0x80)
            return marked == 0 ? count : count - 8 + marked.trailingZeroBitCount / 8
        }
        let marked = marks(rest.lastWord) & UInt64(repeating: 0x80) >> (64 - 8 * UInt64(rest.count))
        return marked == 0 ? count : count - rest.count + marked.trailingZeroBitCount / 8
    }

    /// Fewer than eight bytes, of which the first is lowest.
    @inlinable @inline(__always)
    package var lastWord: UInt64 {
        var word: UInt64 = 0
        for offset in indices { word |= UInt64(self[offset]) << UInt64(offset * 8) }
        return word
    }

    /// The first eight bytes, of which the first is lowest; there must be as many.
    @inlinable @inline(__always)
    package var firstWord: UInt64 {
        var word: UInt64 = 0
        // The optimiser combines a fixed number of bytes to one load.
        for offset in 0..<8 { word |= UInt64(self[offset]) << UInt64(offset * 8) }
        return word
    }
}

// A byte is marked by its highest bit; the other bits have no meaning. Bytes after the first marked
// one may be marked by mistake, because of the borrow of the subtraction.
extension UInt64 {
    /// Marks the bytes that are `byte`.
    @inlinable
    package func marking(_ byte: UInt8) -> UInt64 {
        let difference = self ^ UInt64(repeating: byte)
        return (difference &- UInt64(repeating: 1)) & ~difference
    }

    /// Marks the bytes below `bound`, which is at most 0x80.
    @inlinable
    package func marking(below bound: UInt8) -> UInt64 {
        (self &- UInt64(repeating: bound)) & ~self
    }

    @inlinable
    package init(repeating byte: UInt8) { self = UInt64(byte) &* 0x0101_0101_0101_0101 }
}
