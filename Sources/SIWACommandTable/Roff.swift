/// Text in the language of manual pages.
enum Roff {
    /// `text` escaped for roff, except that a line that begins with a dot is still a request.
    ///
    /// Hyphens become minus signs so that a flag copied from the page is the flag; quotes, accents
    /// and tildes would otherwise be replaced by typographic characters.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
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
    }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

    /// A section; empty if its text is empty. mandoc's lint reports a paragraph request directly
    /// below a heading.
    static func section(_ title: String, _ body: [String]) -> [String] {
        body.isEmpty ? [] : [".SH \(escaped(title))"] + body.drop { $0 == ".PP" }
    }

    /// A term and, indented below it, its meaning; `term` is already escaped.
    static func item(_ term: String, _ meaning: String) -> [String] {
        [".TP", term] + lines(meaning)
    }

    static func paragraph(_ text: String) -> [String] { [".PP"] + lines(text) }

    /// Lines that are printed unchanged.
    static func verbatim(_ lines: [String]) -> [String] {
        [".PP", ".RS 4", ".EX"] + lines.map { inert(escaped($0)) } + [".EE", ".RE"]
    }

    /// Text that roff fills into lines of its own.
    private static func lines(_ text: String) -> [String] {
        TextLayout.wrapped(escaped(text)).map(inert)
    }

    /// Escapes a dot at the beginning of a line, which would otherwise be a request.
    private static func inert(_ line: String) -> String {
        line.hasPrefix(".") ? "\\&" + line : line
    }

    /// At least four digits, which roff requires.
    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
