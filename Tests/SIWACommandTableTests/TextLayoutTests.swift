import Testing

@testable import SIWACommandTable

@Suite struct TextLayoutTests {
    @Test func `lines are filled up to eighty characters`() {
        let lines = TextLayout.wrapped(String(repeating: "abcd ", count: 40), indent: 4)
        #expect(
            lines.map(\.count) == [78, 78, 78].prefix(lines.count - 1) + [lines.last?.count ?? 0])
        #expect(lines.allSatisfy { $0.hasPrefix("    abcd") && $0.count <= 80 })
        #expect(lines.joined(separator: " ").split(separator: " ").count == 40)
    }

    @Test func `a line can have exactly eighty characters`() {
        let text = String(repeating: "a", count: 40) + " " + String(repeating: "b", count: 39)
        #expect(TextLayout.wrapped(text).map(\.count) == [80])
        #expect(TextLayout.wrapped(text + "b").map(\.count) == [40, 40])
    }

    @Test func `a word longer than the line is put on its own line`() {
        let word = String(repeating: "w", count: 100)
        #expect(TextLayout.wrapped("a \(word) b") == ["a", word, "b"])
    }

    @Test func `a long term is put on its own line above its description`() {
        let long = String(repeating: "l", count: 27)
        let lines = TextLayout.table([Definition("ab", "Short."), Definition(long, "Long.")])
        #expect(lines == ["  ab  Short.", "  \(long)", "      Long."])
    }

    @Test func `empty text has no lines`() {
        #expect(TextLayout.wrapped(" \n ") == [])
    }

    @Test func `indented paragraphs are not reformatted`() {
        let paragraphs = TextLayout.paragraphs("a\nb\n\n\n  c\n d\n \ne")
        #expect(paragraphs == [.prose("a b"), .verbatim(["  c", " d"]), .prose("e")])
    }
}
