// The standard library's `firstRange(of:)`, `contains(_:)` and `replacing(_:with:)` of texts link the
// engine of regular expressions (docs/decisions/linking.md).
extension StringProtocol where SubSequence == Substring {
    /// The first occurrence of a text; nil if there is none, or the text is empty.
    func firstPlace(of text: String) -> Range<Index>? {
        guard !text.isEmpty else { return nil }
        var start = startIndex
        while start < endIndex {
            let rest = self[start...]
            if rest.hasPrefix(text) { return start..<rest.index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }

    /// Whether a text occurs.
    func holds(_ text: String) -> Bool { firstPlace(of: text) != nil }

    /// The text with every occurrence of another replaced.
    func replacingEvery(_ text: String, with replacement: String) -> String {
        var result = ""
        var rest = self[...]
        while let place = rest.firstPlace(of: text) {
            result += rest[..<place.lowerBound] + replacement
            rest = rest[place.upperBound...]
        }
        return result + rest
    }
}
