/// The media types of an `Accept` field (RFC 9110 §12.5.1).
struct AcceptedTypes {
    private struct Range {
        let type: String
        /// In thousandths.
        let quality: Int
    }

    private let ranges: [Range]

    /// Reads the field; without it, every media type is accepted.
    init(_ field: String?) {
        ranges = (field ?? "*/*").split(separator: ",").map { part in
            let pieces = part.split(separator: ";").map { piece in
                String(piece.filter { $0 != " " && $0 != "\t" }).lowercased()
            }
            let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }
                .map { Self.thousandths($0.dropFirst(2)) }
            return Range(type: pieces.first ?? "", quality: quality ?? 1000)
        }
    }

    /// The quality of a media type, in thousandths; 0 if it is not acceptable.
    func quality(of mediaType: String) -> Int {
        let main = mediaType.prefix { $0 != "/" }
        for wanted in [mediaType, "\(main)/*", "*/*"] {
            if let range = ranges.first(where: { $0.type == wanted }) { return range.quality }
        }
        return 0
    }

    /// The media type with the highest quality, the first of equal ones; nil if none is acceptable.
    func preferred(among mediaTypes: [String]) -> String? {
        var best: (type: String, quality: Int)?
        for type in mediaTypes {
            let quality = quality(of: type)
            if quality > best?.quality ?? 0 { best = (type, quality) }
        }
        return best?.type
    }

    /// Converts `0.5` to 500; invalid numbers count as 0.
    private static func thousandths(_ text: Substring) -> Int {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int($0) }), (0...1).contains(whole) else {
            return 0
        }
        let digits = parts.count > 1 ? (parts[1] + "000").prefix(3) : "000"
        return min(whole * 1000 + (Int(digits) ?? 0), 1000)
    }
}
