extension String {
    /// The first `limit` characters of Unicode, with an ellipsis if there are more. Not characters
    /// as a reader counts them: one of those can consist of thousands.
    package func clipped(to limit: Int) -> String {
        guard utf8.count > limit, unicodeScalars.count > limit else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) + "…"
    }
}

extension Int {
    /// At least `width` digits, upper-case, with leading zeros after the sign.
    package func padded(to width: Int, radix: Int = 10) -> String {
        let digits = String(magnitude, radix: radix, uppercase: true)
        let zeros = String(repeating: "0", count: Swift.max(0, width - digits.count))
        return (self < 0 ? "-" : "") + zeros + digits
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would interpret the character instead of showing it, or show the line in
    /// another order. Texts from outside are shown without such characters.
    package var controlsTerminals: Bool {
        guard !isASCII else { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
