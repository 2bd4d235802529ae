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
}
