internal import SIWACommandTable

/// Rows of cells for people. On a terminal the table fits its width: cells that are too wide
/// continue on the next line. Other output is not wrapped.
struct TextTable {
    /// The widths of the columns.
    let widths: [Int]

    private static let gap = "  "
    /// The least width of a column, if the terminal is wide enough.
    private static let narrowest = 8

    /// Fits the columns to the cells, and then to the terminal.
    init(for rows: [[String]], width: Int?) {
        let count = rows.map(\.count).max() ?? 0
        let widest = (0..<count).map { column in
            rows.compactMap { $0.count > column ? $0[column].count : nil }.max() ?? 0
        }
        self.init(widths: widest, within: width)
    }

    /// Fits columns to the terminal, the widest first.
    init(widths wanted: [Int], within width: Int?) {
        var widths = wanted
        guard let width else {
            self.widths = widths
            return
        }
        let room = max(width - Self.gap.count * (widths.count - 1), 1)
        let narrowest = max(min(Self.narrowest, room / max(widths.count, 1)), 1)
        while widths.reduce(0, +) > room, let widest = widths.max(), widest > narrowest,
            let column = widths.firstIndex(of: widest)
        {
            widths[column] -= 1
        }
        self.widths = widths
    }

    /// The lines of one row; the last cell is not padded.
    ///
    /// - Parameter paint: colours a padded cell.
    func lines(
        of cells: [String], paint: (_ column: Int, _ cell: String) -> String = { $1 }
    ) -> [String] {
        let parts = zip(cells, widths).map { $0.wrapped(to: $1) }
        let height = parts.map(\.count).max() ?? 0
        return (0..<height).map { line in
            let last = parts.indices.last { parts[$0].count > line } ?? 0
            return (0...last).map { column in
                let text = parts[column].count > line ? parts[column][line] : ""
                return paint(column, column == last ? text : text.padded(to: widths[column]))
            }.joined(separator: Self.gap)
        }
    }
}

extension String {
    /// Pieces of at most `width` characters, broken at spaces where possible.
    func wrapped(to width: Int) -> [String] {
        guard width > 0, count > width else { return [self] }
        var lines: [String] = []
        var rest = self[...]
        while rest.count > width {
            let piece = rest.prefix(width + 1)
            let space = piece.lastIndex(of: " ").flatMap { $0 == piece.startIndex ? nil : $0 }
            let end = space ?? rest.index(rest.startIndex, offsetBy: width)
            lines.append(String(rest[..<end]))
            rest = rest[end...].drop { $0 == " " }
        }
        return rest.isEmpty ? lines : lines + [String(rest)]
    }
}
