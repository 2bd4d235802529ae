/// Breaks text into lines for a terminal.
enum TextLayout {
    /// The width of help, which fits every terminal.
    static let width = 80

    /// `text` in lines of at most `width` characters after `indent`; a longer word has its own line.
    static func wrapped(_ text: String, indent: Int = 0) -> [String] {
        lines(of: text, width: width - indent).map { spaces(indent) + $0 }
    }

    /// Two columns: terms, and their meanings beside them, or below them if the term is too long.
    static func table(_ rows: [Definition]) -> [String] {
        let margin = 2
        let gap = 2
        let widest = rows.map { columns(of: $0.term) }.filter { $0 <= 26 }.max() ?? 0
        let column = margin + widest + gap
        return rows.flatMap { row in
            let term = spaces(margin) + row.term
            let lines = lines(of: row.meaning, width: width - column)
            let rest = column - columns(of: term)
            guard rest >= gap, let first = lines.first else {
                return [term] + lines.map { spaces(column) + $0 }
            }
            return [term + spaces(rest) + first] + lines.dropFirst().map { spaces(column) + $0 }
        }
    }

    /// The paragraphs of `text`; those whose first line is indented are not wrapped.
    static func paragraphs(_ text: String) -> [Paragraph] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.split { $0.allSatisfy(\.isWhitespace) }.map { lines in
            lines.first?.first == " "
                ? .verbatim(lines.map { String($0) }) : .prose(lines.joined(separator: " "))
        }
    }

    enum Paragraph: Equatable {
        case prose(String)
        case verbatim([String])
    }
}

extension TextLayout {
    /// `text` in lines of at most `width` characters; words end at ASCII's white space.
    private static func lines(of text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.utf8.split(whereSeparator: isBlank) {
            let word = Substring(word)
            let needed = columns(of: word)
            if used > 0, used + 1 + needed > width {
                lines.append(line)
                (line, used) = ("", 0)
            }
            if used > 0 {
                line += " "
                used += 1
            }
            line += word
            used += needed
        }
        return used == 0 ? lines : lines + [line]
    }

    /// The number of characters; for ASCII that is the number of bytes, which is faster.
    private static func columns(of text: some StringProtocol) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.count
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}

extension String {
    /// The text, padded with spaces to `width` characters.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension String {
    /// The string with every occurrence of `text` replaced by `replacement`.
    ///
    /// The standard library's `replacing` links the engine of regular expressions into the program
    /// (docs/decisions/linking.md).
    func substituting(_ text: String, with replacement: String) -> String {
        let wanted = Array(text.utf8)
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.first {
            if rest.starts(with: wanted) {
                bytes += replacement.utf8
                rest.removeFirst(wanted.count)
            } else {
                bytes.append(byte)
                rest.removeFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
