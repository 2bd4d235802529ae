/// Breaks text into lines for a terminal.
enum TextLayout {
    /// Narrow enough for every terminal, and for a quotation in a ticket.
    static let width = 80

    /// `text` in lines of at most `width` characters after `indent`; a longer word has its own line.
    static func wrapped(_ text: String, indent: Int = 0) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(whereSeparator: \.isWhitespace) {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(margin + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [margin + line]
    }

    /// Two columns: terms, and beside them their meaning, or below where the term is too long.
    static func table(_ rows: [Entry]) -> [String] {
        let margin = 2
        let gap = 2
        let widest = rows.map(\.term.count).filter { $0 <= 26 }.max() ?? 0
        let column = margin + widest + gap
        return rows.flatMap { row in
            let term = String(repeating: " ", count: margin) + row.term
            let lines = wrapped(row.meaning, indent: column)
            guard term.count + gap <= column, let first = lines.first else {
                return [term] + lines
            }
            return [term + first.dropFirst(term.count)] + lines.dropFirst()
        }
    }

    /// The paragraphs of `text`: those whose first line is indented stay as they are.
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
