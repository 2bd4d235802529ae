extension String {
    /// The first `limit` Unicode scalars, with an ellipsis if there are more. Not `Character`s,
    /// because one of these can consist of thousands of scalars.
    package func clipped(to limit: Int) -> String {
        guard utf8.count > limit, unicodeScalars.count > limit else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) + "…"
    }

    /// The text for HTML, between tags or in a quoted attribute.
    package var escapedForHTML: String {
        // By scalars, because a combining accent would hide the preceding character.
        unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    /// The text with a question mark in place of each character that would control a terminal.
    package var withoutControls: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.controlsTerminals ? "?" : $0 }))
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
