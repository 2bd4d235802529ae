import Testing

@testable import SIWAJOSE

/// No object has a member twice, however many it has and however its names are written.
@Suite struct MemberNamesTests {
    @Test(arguments: [1, 15, 16, 17, 100])
    func `every duplicate name is found among any number of names`(_ count: Int) {
        let names = (0..<count).map { "name \($0)" }
        #expect(repeated(names + ["another"]) == nil)
        for name in names { #expect(repeated(names + [name]) == name) }
    }

    @Test(arguments: [0, 100])
    func `names that only look alike are different`(_ others: Int) {
        var names = (0..<others).map { "name \($0)" }
        for name in ["K", "\u{212A}", "k", "", "\u{E9}", "e\u{301}"] {
            names.append(name)
            #expect(repeated(names) == nil, "\(name)")
            #expect(repeated(names + [name]).map { Array($0.utf8) } == Array(name.utf8))
        }
    }

    @Test(arguments: [0, 100])
    func `a name with escapes equals the name without`(_ others: Int) {
        let names = (0..<others).map { "name \($0)" }
        for (one, other) in [("a", #"\u0061"#), (#"\u0061"#, "a"), (#"\/"#, #"\u002f"#)] {
            #expect(repeated(names + [one, other]) != nil, "\(one) and \(other)")
        }
        #expect(repeated(names + ["a", #"\u0041"#, #"\\u0061"#]) == nil)
    }

    @Test func `members of nested objects are not members of the outer object`() throws {
        let text = #"{"a":{"a":1,"b":[{"a":2}]},"b":{"b":3},"c":[{"c":4},{"c":5}]}"#
        #expect(try JSON(text: text).text == text)
        #expect(throws: JSONError.self) { try JSON(text: #"{"a":{"b":1},"c":{"d":1,"d":2}}"#) }
        #expect(throws: JSONError.self) { try JSON(text: #"{"a":{"a":[{"a":1}]},"a":2}"#) }
    }

    /// The name that an object of these names, as they are written, is refused for.
    private func repeated(_ names: [String]) -> String? {
        let members = names.map { "\"\($0)\":0" }.joined(separator: ",")
        do {
            _ = try JSON(text: "{\(members)}")
            return nil
        } catch {
            guard case .duplicate(let name) = error.reason else { return "\(error)" }
            return name
        }
    }
}
