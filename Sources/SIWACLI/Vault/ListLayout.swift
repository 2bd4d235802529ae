internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE

/// A row of a list, for people and for machines.
struct ListRow: Sendable {
    let cells: [String]
    let members: [JSON.Member]
}

/// The format of a long list, which is printed page by page.
protocol ListLayout {
    mutating func lines(of rows: [ListRow]) -> [UInt8]
    mutating func end() -> [UInt8]
}

/// A column of a table. Its width is fixed, because rows are printed before the widest one is
/// known.
struct ListColumn: Sendable {
    let heading: String
    let width: Int
    /// Whether the cells are ids that other commands accept: they are shown unmasked, although long
    /// ones look like secrets.
    let isID: Bool

    init(_ heading: String, _ width: Int, isID: Bool = false) {
        (self.heading, self.width, self.isID) = (heading, width, isID)
    }

    /// A cell of untrusted text, made safe to show.
    func shown(_ cell: String) -> String {
        isID ? cell.clipped(to: 300).withoutControls : printable(cell, limit: 300)
    }

    static func time(_ heading: String) -> Self { Self(heading, 20) }
    static let client = Self("CLIENT", 24)
    /// As long as Apple's user ids.
    static let user = Self("USER", 44)
    static let token = Self("TOKEN", 12)
}

/// Rows as a table, for people.
struct TableLayout: ListLayout {
    private let columns: [ListColumn]
    private let terminal: Terminal
    private var isBegun = false

    init(_ columns: [ListColumn], on terminal: Terminal) {
        (self.columns, self.terminal) = (columns, terminal)
    }

    mutating func lines(of rows: [ListRow]) -> [UInt8] {
        let head = begin()
        return rows.reduce(into: head) { $0 += line($1.cells) }
    }

    mutating func end() -> [UInt8] { begin() }

    private mutating func begin() -> [UInt8] {
        defer { isBegun = true }
        return isBegun ? [] : line(columns.map(\.heading), .bold)
    }

    private func line(_ cells: [String], _ color: Terminal.Color? = nil) -> [UInt8] {
        if let width = terminal.width {
            let table = TextTable(widths: columns.map(\.width), within: width)
            let lines = table.lines(of: zip(cells, columns).map { $1.shown($0) }) {
                terminal.output.painted($1, color)
            }
            return Array((lines.joined(separator: "\n") + "\n").utf8)
        }
        let padded = zip(cells, columns).map { $1.shown($0).padded(to: $1.width) }
        let line = padded.joined(separator: "  ")
        let padding = line.reversed().prefix { $0 == " " }.count
        return Array(line.dropLast(padding).utf8) + [0x0A]
    }
}

/// Rows as one JSON object with an array, one row per line, for machines.
struct JSONLayout: ListLayout {
    private let member: String
    /// Whether to print only the array.
    private let isBare: Bool
    private var isBegun = false

    init(_ member: String, isBare: Bool) { (self.member, self.isBare) = (member, isBare) }

    mutating func lines(of rows: [ListRow]) -> [UInt8] {
        rows.reduce(into: []) { lines, row in
            lines += begin() + Array("\n".utf8) + JSON.object(row.members).bytes
        }
    }

    mutating func end() -> [UInt8] {
        let isEmpty = !isBegun
        return (isEmpty ? begin() : Array("\n".utf8)) + Array((isBare ? "]\n" : "]}\n").utf8)
    }

    /// The text before the next row.
    private mutating func begin() -> [UInt8] {
        defer { isBegun = true }
        return Array((isBegun ? "," : isBare ? "[" : "{\"\(member)\":[").utf8)
    }
}

extension OutputOptions {
    /// The requested layout.
    func listLayout(
        _ member: String, _ columns: [ListColumn], on terminal: Terminal
    ) -> any ListLayout {
        guard json || print != nil else { return TableLayout(columns, on: terminal) }
        return JSONLayout(member, isBare: print != nil)
    }
}
