import Testing

@testable import SIWACommandTable

@Suite struct RoffTests {
    static let texts: [(text: String, roff: String)] = [
        ("plain", "plain"), ("-v", "\\-v"), ("a\\b", "a\\(rsb"), ("'a'", "\\(aqa\\(aq"),
        ("\"a\"", "\\(dqa\\(dq"), ("`a`", "\\(gaa\\(ga"), ("^a", "\\(haa"), ("~a", "\\(tia"),
        ("é", "\\[u00E9]"), ("🍏", "\\[u1F34F]"), (".a", ".a"),
    ]

    @Test(arguments: texts) func `roff's special characters are escaped`(
        _ text: String, _ roff: String
    ) {
        #expect(Roff.escaped(text) == roff)
    }

    @Test func `a line that begins with a dot is not read as a roff request`() {
        #expect(Roff.paragraph(".a b") == [".PP", "\\&.a b"])
        #expect(Roff.verbatim([".a"]) == [".PP", ".RS 4", ".EX", "\\&.a", ".EE", ".RE"])
    }

    @Test func `a heading is not followed by a paragraph request`() {
        #expect(Roff.section("T", Roff.paragraph("a")) == [".SH T", "a"])
        #expect(Roff.section("T", []) == [])
    }
}
