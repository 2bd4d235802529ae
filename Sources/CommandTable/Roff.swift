/// Text in the language of manual pages.
enum Roff {
    /// `text` such that roff prints it and obeys none of it.
    ///
    /// Hyphens become minus signs so that a flag copied from the page is the flag; quotes, accents
    /// and tildes would otherwise come out as their typographic cousins.
    static func escaped(_ text: String) -> String {
        let body = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\(rs"
            case "-": "\\-"
            case "'": "\\(aq"
            case "\"": "\\(dq"
            case "`": "\\(ga"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case _ where scalar.isASCII: String(scalar)
            case _: "\\[u\(hexadecimal(scalar))]"
            }
        }.joined()
        return body.hasPrefix(".") ? "\\&" + body : body
    }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

    static func section(_ title: String) -> [String] { [".SH \(escaped(title))"] }

    /// A term and, indented below it, what it means; `term` is roff already.
    static func item(_ term: String, _ meaning: String) -> [String] {
        [".TP", term, prose(meaning)]
    }

    static func paragraph(_ text: String) -> [String] { [".PP", prose(text)] }

    /// Lines that stay as they are.
    static func verbatim(_ lines: [String]) -> [String] {
        [".PP", ".RS 4", ".EX"] + lines.map(escaped) + [".EE", ".RE"]
    }

    /// Line breaks would begin new roff lines, on which a dot is an order.
    static func prose(_ text: String) -> String {
        escaped(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    /// At least four digits, as roff wants them.
    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
