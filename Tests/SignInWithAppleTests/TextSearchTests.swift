import SIWAJOSE
import Testing

@Suite struct TextSearchTests {
    @Test func `every occurrence of a text is replaced, also beside another`() {
        #expect("abab-ab".replacingEvery("ab", with: "a") == "aa-a")
        #expect("~01~1".replacingEvery("~1", with: "/") == "~01/")
        #expect("none".replacingEvery("ab", with: "x") == "none")
        #expect("kept".replacingEvery("", with: "x") == "kept")
    }

    @Test func `the first occurrence of a text is found, and nothing for an empty one`() {
        let text = "é {{name}} {{other}}"
        let place = text.firstPlace(of: "{{")
        #expect(place.map { text[$0.upperBound...] } == "name}} {{other}}")
        #expect(text.firstPlace(of: "") == nil)
        #expect(
            text.dropFirst(4).firstPlace(of: "{{").map { text[..<$0.lowerBound] } == "é {{name}} ")
        #expect(text.holds("}}") && !text.holds("}}}"))
    }
}
