import Testing

@testable import SIWAApplication
@testable import SIWACLI

@Suite struct ListLayoutTests {
    /// Other commands take it.
    @Test func `an id is shown completely, even if it looks like a secret`() {
        let id = "sha256-" + String(repeating: "6d4c01ab", count: 8)
        var layout = TableLayout(
            [
                ListColumn("JTI", 36, .id, rank: 1), ListColumn("ERROR", 40, .detail, rank: 2),
            ], on: Terminal())
        let row = ListRow(cells: [id + "\u{1B}", id], members: [])
        let text = String(decoding: layout.lines(of: [row]), as: UTF8.self)
        #expect(text.contains(id + "?") && text.contains("secret, not shown"), "\(text)")
    }

    private static let columns = [
        ListColumn.time("STORED", rank: 4), ListColumn("STATE", 15, rank: 3), .user(rank: 1),
        ListColumn("NOTE", 30, .detail, rank: 5), .token(rank: 2),
    ]
    private static let userID = "001234.0a1b2c3d4e5f60718293a4b5c6d7e8f9.0001"
    private static let cells = [
        "2026-11-27T08:00:00Z", "revoked", userID, String(repeating: "word ", count: 30),
        "0a1b2c3d4e5f",
    ]

    private static func lines(_ width: Int?, isWide: Bool = false) -> [String] {
        let terminal = Terminal(width: width, isErrorsTerminal: false) { _ in nil }
        var layout = TableLayout(columns, isWide: isWide, on: terminal)
        let row = ListRow(cells: cells, members: [])
        return String(decoding: layout.lines(of: [row]) + layout.end(), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        (30, ["USER"]), (60, ["USER", "TOKEN"]), (80, ["STATE", "USER", "TOKEN"]),
        (95, ["STORED", "STATE", "USER", "TOKEN"]),
        (130, ["STORED", "STATE", "USER", "NOTE", "TOKEN"]),
    ])
    func `on a narrow terminal, the least important columns are left out, and no id is broken`(
        _ width: Int, _ headings: [String]
    ) {
        let lines = Self.lines(width)
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.first?.split(separator: " ").map(String.init) == headings)
        #expect(lines.last?.contains(Self.userID) == true)
        #expect(lines.allSatisfy { $0.count <= max(width, 44) }, "\(lines)")
        #expect(lines.last?.hasSuffix("0a1b2c3d4e5f") == (width > 30))
    }

    @Test func `a wide table, and one for no terminal, has every cell whole`() {
        for lines in [Self.lines(40, isWide: true), Self.lines(nil)] {
            #expect(lines.count == 2)
            for cell in Self.cells { #expect(lines[1].contains(cell), "\(lines)") }
        }
    }

    @Test func `an id that is longer than those of the first page is shown whole`() {
        let terminal = Terminal(width: 60, isErrorsTerminal: false) { _ in nil }
        var layout = TableLayout([.user(rank: 1), .token(rank: 2)], on: terminal)
        _ = layout.lines(of: [ListRow(cells: ["001.a", "0a"], members: [])])
        let id = "001." + String(repeating: "é", count: 50)
        let line = layout.lines(of: [ListRow(cells: [id, "0b"], members: [])])
        #expect(String(decoding: line, as: UTF8.self) == "\(id)  0b\n")
    }
}
