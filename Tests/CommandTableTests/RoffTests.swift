import Testing

@testable import CommandTable

@Suite struct RoffTests {
    static let texts: [(text: String, roff: String)] = [
        ("plain", "plain"), ("-v", "\\-v"), ("a\\b", "a\\(rsb"), ("'a'", "\\(aqa\\(aq"),
        ("\"a\"", "\\(dqa\\(dq"), ("`a`", "\\(gaa\\(ga"), ("^a", "\\(haa"), ("~a", "\\(tia"),
        ("é", "\\[u00E9]"), ("🍏", "\\[u1F34F]"), (".a", ".a"),
    ]

    @Test(arguments: texts) func escapes(_ text: String, _ roff: String) {
        #expect(Roff.escaped(text) == roff)
    }

    @Test func `a line that begins with a dot is not a request of roff`() {
        #expect(Roff.paragraph(".a b") == [".PP", "\\&.a b"])
        #expect(Roff.verbatim([".a"]) == [".PP", ".RS 4", ".EX", "\\&.a", ".EE", ".RE"])
    }

    @Test func `no paragraph is announced below a heading`() {
        #expect(Roff.section("T", Roff.paragraph("a")) == [".SH T", "a"])
        #expect(Roff.section("T", []) == [])
    }
}
