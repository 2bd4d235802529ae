import Testing

@testable import SIWACommandTable

@Suite struct SuggestionsTests {
    static let distances: [(String, String, Int)] = [
        ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "abd", 1),
        ("abc", "ab", 1), ("ab", "abc", 1), ("abc", "acb", 1), ("abcd", "badc", 2),
        ("kitten", "sitting", 3),
    ]

    @Test(arguments: distances)
    func `the edit distance counts insertions, deletions, replacements and swaps`(
        _ left: String, _ right: String, _ expected: Int
    ) {
        #expect(SIWACommandTable.editDistance(between: left, and: right) == expected)
    }

    static let typed: [(String, [String])] = [
        ("tokne", ["token"]), ("TOKEN", ["token"]), ("to", ["token"]), ("t", []), ("x", []),
        ("tikan", ["token"]), ("tikar", []), ("code", ["code", "codes"]),
        ("codez", ["code", "codes"]),
        ("", []),
    ]

    @Test(arguments: typed) func `similar names are suggested`(
        _ typed: String, _ expected: [String]
    ) {
        #expect(suggestions(for: typed, among: ["codes", "token", "code"]).sorted() == expected)
    }

    @Test func `the nearest name comes first, and at most three are suggested`() {
        let candidates = ["tokenxy", "tokenx", "token", "tokeny"]
        #expect(suggestions(for: "token", among: candidates) == ["token", "tokenx", "tokeny"])
    }
}
