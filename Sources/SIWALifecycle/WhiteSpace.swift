/// Whether the byte is a space, a tab or a line end in ASCII.
package func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

/// The bytes without spaces, tabs and line ends at both ends; empty if there are no others.
package func rangeWithoutSpace(_ bytes: Span<UInt8>) -> Range<Int> {
    var (start, end) = (0, bytes.count)
    while start < end, isSpace(bytes[start]) { start += 1 }
    while start < end, isSpace(bytes[end - 1]) { end -= 1 }
    return start..<end
}

extension String {
    /// The text without white space at both ends.
    package var trimmingSpace: String {
        // Nearly every text begins and ends with a visible character in ASCII.
        if let first = utf8.first, let last = utf8.last, (0x21...0x7E).contains(first),
            (0x21...0x7E).contains(last)
        {
            return self
        }
        let rest = drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...last])
    }
}
