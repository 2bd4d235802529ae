internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE

/// A row of a list, for people and for machines. A list prints one of the two, and makes only that.
struct ListRow: Sendable {
    let cells: @Sendable () -> [String]
    let members: @Sendable () -> [JSON.Member]

    init(
        cells: @autoclosure @escaping @Sendable () -> [String],
        members: @autoclosure @escaping @Sendable () -> [JSON.Member]
    ) {
        (self.cells, self.members) = (cells, members)
    }
}

/// The format of a long list, which is printed page by page.
protocol ListLayout {
    mutating func lines(of rows: [ListRow]) -> [UInt8]
    mutating func end() -> [UInt8]
}

/// A column of a table.
struct ListColumn: Sendable {
    /// What its cells are.
    enum Content: Sendable {
        /// siwa's own words, numbers and times.
        case own
        /// Ids that other commands accept: they are shown unmasked, although long ones look like
        /// secrets.
        case id
        /// Untrusted text.
        case text
        /// Untrusted text that is shortened where it does not fit.
        case detail
    }

    let heading: String
    /// The width where output is no terminal: rows are printed before the widest one is known.
    let width: Int
    let content: Content
    /// 1 is the most important column. Where a terminal is too narrow, the least important ones are
    /// left out.
    let rank: Int

    init(_ heading: String, _ width: Int, _ content: Content = .own, rank: Int) {
        (self.heading, self.width, self.content, self.rank) = (heading, width, content, rank)
    }

    /// A cell as it may be shown.
    func shown(_ cell: String) -> String {
        switch content {
        case .own: cell
        case .id: cell.clipped(to: 300).withoutControls
        case .text where cell.isAppleUserID: cell
        case .text, .detail: printable(cell, limit: 300)
        }
    }

    static func time(_ heading: String, rank: Int) -> Self { Self(heading, 20, rank: rank) }
    static func client(rank: Int) -> Self { Self("CLIENT", 24, .text, rank: rank) }
    /// As long as Apple's user ids.
    static func user(rank: Int) -> Self { Self("USER", 44, .text, rank: rank) }
    static func token(rank: Int) -> Self { Self("TOKEN", 12, rank: rank) }
}

extension String {
    /// Whether the text is a user id as Apple's are, such as
    /// `001234.0a1b2c3d4e5f60718293a4b5c6d7e8f9.0001`, which holds no secret.
    fileprivate var isAppleUserID: Bool {
        var position = 0
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: ".") where position == 6 || position == 39: break
            case UInt8(ascii: "0")...UInt8(ascii: "9") where position != 6 && position != 39: break
            case UInt8(ascii: "a")...UInt8(ascii: "f") where (7..<39).contains(position): break
            default: return false
            }
            position += 1
        }
        return position == 44
    }
}

/// Rows as a table, for people. No cell is broken into lines. On a terminal, the columns are as wide
/// as their cells on the first page, and those that do not fit are left out.
struct TableLayout: ListLayout {
    private let columns: [ListColumn]
    private let terminal: Terminal
    private let isWide: Bool
    /// The columns that are shown; nil before the first page.
    private var places: [ColumnPlace]?

    /// - Parameter isWide: shows all columns, and every cell whole.
    init(_ columns: [ListColumn], isWide: Bool = false, on terminal: Terminal) {
        (self.columns, self.isWide, self.terminal) = (columns, isWide, terminal)
    }

    mutating func lines(of rows: [ListRow]) -> [UInt8] {
        let rows = rows.map { $0.cells() }
        var lines: [UInt8] = []
        let known = places
        let places = known ?? choose(for: rows)
        if known == nil {
            self.places = places
            let terminal = terminal
            Self.append(places.map { ShownCell(columns[$0.index].heading) }, places, to: &lines) {
                terminal.output.painted($0, .bold)
            }
        }
        var cells = places.map { _ in ShownCell("") }
        for row in rows {
            for (position, place) in places.enumerated() {
                let text = row[place.index]
                // Neighbours often have the same client.
                guard cells[position].original != text else { continue }
                cells[position] = ShownCell(
                    columns[place.index].shown(text), of: text, within: place.limit)
            }
            Self.append(cells, places, to: &lines)
        }
        return lines
    }

    mutating func end() -> [UInt8] { places == nil ? lines(of: []) : [] }

    /// The columns that are shown, in their order.
    private func choose(for rows: [[String]]) -> [ColumnPlace] {
        guard let width = terminal.width else {
            return columns.indices.map { ColumnPlace(index: $0, width: columns[$0].width) }
        }
        var room = width
        var chosen: [ColumnPlace] = []
        for index in columns.indices.sorted(by: { columns[$0].rank < columns[$1].rank }) {
            let gap = chosen.isEmpty ? 0 : Self.gap.utf8.count
            let widest = widest(index, rows)
            if isWide || chosen.isEmpty || widest + gap <= room {
                chosen.append(ColumnPlace(index: index, width: widest))
                room -= widest + gap
            } else if columns[index].content == .detail, room - gap >= Self.leastDetail {
                chosen.append(ColumnPlace(index: index, width: room - gap, limit: room - gap))
                room = 0
            }
        }
        return chosen.sorted { $0.index < $1.index }
    }

    private func widest(_ index: Int, _ rows: [[String]]) -> Int {
        let column = columns[index]
        return rows.reduce(column.heading.count) {
            max($0, ShownCell(column.shown($1[index])).width)
        }
    }

    private static let gap = "  "
    /// A shorter part of a text is not worth its place.
    private static let leastDetail = 20

    private static func append(
        _ cells: [ShownCell], _ places: [ColumnPlace], to lines: inout [UInt8],
        paint: ((String) -> String)? = nil
    ) {
        let start = lines.count
        for (cell, place) in zip(cells, places) {
            if lines.count > start { lines += gap.utf8 }
            lines += (paint.map { $0(cell.text) } ?? cell.text).utf8
            lines += repeatElement(0x20, count: max(place.width - cell.width, 0))
        }
        while lines.count > start, lines.last == 0x20 { lines.removeLast() }
        lines.append(0x0A)
    }
}

/// A column that is shown.
private struct ColumnPlace {
    let index: Int
    let width: Int
    /// The width to which cells are shortened; nil if they are shown whole.
    var limit: Int?
}

/// A cell that is safe to show.
private struct ShownCell {
    let text: String
    /// How many columns of a terminal it takes.
    let width: Int
    /// The cell before it was made safe.
    let original: String

    init(_ text: String, of original: String = "", within limit: Int? = nil) {
        self.original = original
        self.text = limit.map { text.clipped(to: max($0 - 1, 1)) } ?? text
        let isASCII = self.text.utf8.allSatisfy { $0 < 0x80 }
        width = isASCII ? self.text.utf8.count : self.text.count
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
            lines += begin() + Array("\n".utf8) + JSON.object(row.members()).bytes
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
    ///
    /// - Parameter isWide: whether a table has all columns, however narrow the terminal is.
    func listLayout(
        _ member: String, _ columns: [ListColumn], isWide: Bool, on terminal: Terminal
    ) -> any ListLayout {
        guard json || print != nil else {
            return TableLayout(columns, isWide: isWide, on: terminal)
        }
        return JSONLayout(member, isBare: print != nil)
    }
}
