import SIWALifecycle
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// Tables are wrapped to the width of a terminal, and nowhere else.
@Suite struct TextTableTests {
    static let rows = [
        [
            "client_id", "com.example.app",
            "profile 'app' in /home/somebody/.config/siwa/config.json",
        ],
        [
            "private_key", "/home/somebody/.config/siwa/AuthKey_K1L2M3N4P5.p8",
            "found by its Key ID",
        ],
    ]

    @Test func `without a terminal, a row is one line, padded to the widest cells`() {
        let table = TextTable(for: Self.rows, width: nil)
        for row in Self.rows { #expect(table.lines(of: row).count == 1) }
        #expect(
            table.lines(of: Self.rows[0])[0]
                == "client_id    com.example.app                                    "
                + "profile 'app' in /home/somebody/.config/siwa/config.json")
    }

    @Test(arguments: [30, 60, 80, 100, 132]) func `no line is wider than the terminal`(_ width: Int)
    {
        let table = TextTable(for: Self.rows, width: width)
        for row in Self.rows {
            let lines = table.lines(of: row)
            #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
            // Nothing is lost.
            let letters = lines.joined().filter { $0 != " " }.sorted()
            #expect(letters == row.joined().filter { $0 != " " }.sorted())
        }
    }

    @Test func `many columns share a narrow terminal`() {
        let cells = (0..<10).map { String(repeating: "\($0)", count: 20) }
        for width in [29, 70, 80] {
            let lines = TextTable(for: [cells], width: width).lines(of: cells)
            #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
        }
    }

    @Test func `text is wrapped at spaces if it has any`() {
        #expect("one two three".wrapped(to: 8) == ["one two", "three"])
        #expect("abcdefghij".wrapped(to: 4) == ["abcd", "efgh", "ij"])
        #expect("".wrapped(to: 4) == [""] && "abc".wrapped(to: .max) == ["abc"])
    }

    @Test func `colour is used for terminals only, unless the environment disables it`() {
        func colors(
            _ width: Int?, _ isErrorsTerminal: Bool, _ variables: [String: String] = [:]
        ) -> [Bool] {
            let terminal = Terminal(
                width: width, isErrorsTerminal: isErrorsTerminal, variables: { variables[$0] })
            return [terminal.output.isOn, terminal.errors.isOn]
        }
        #expect(colors(80, true) == [true, true])
        #expect(colors(nil, true) == [false, true])
        #expect(colors(80, false) == [false, false])
        #expect(colors(80, true, ["NO_COLOR": "1"]) == [false, false])
        #expect(colors(80, true, ["NO_COLOR": ""]) == [true, true])
        #expect(colors(80, true, ["TERM": "dumb"]) == [false, false])
        #expect(Terminal().errors.painted("x", .red) == "x")
        let terminal = Terminal(width: 80, isErrorsTerminal: true) { _ in nil }
        #expect(terminal.output.painted("ok", .green) == "\u{1B}[32mok\u{1B}[0m")
        #expect(terminal.output.painted("ok", nil) == "ok")
    }

    @Test func `the output of doctor fits the terminal, with its advice`() {
        let line = CheckLine(
            "key_files", .warning, String(repeating: "seen ", count: 40),
            advice: String(repeating: "do ", count: 60))
        let wide = line.text(width: 10, on: Terminal()).split(separator: "\n")
        #expect(wide.count == 2)
        let terminal = Terminal(width: 60, isErrorsTerminal: false) { _ in nil }
        let lines = line.text(width: 10, on: terminal).split(separator: "\n")
        #expect(lines.count > 6 && lines.allSatisfy { $0.count <= 60 })
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix(String(repeating: " ", count: 20)) })
    }
}
