import Testing

@testable import SignInWithApple

@Suite struct MemberNamesTests {
    @Test(arguments: [1, 15, 16, 17, 100])
    func `notices every name that comes twice, however many there are`(_ count: Int) {
        var names = ObjectDraft()
        let first = (0..<count).map { names.insert("name \($0)") }
        let second = (0..<count).map { names.insert("name \($0)") }
        let another = names.insert("another")
        #expect(first.allSatisfy { $0 } && !second.contains(true) && another)
    }

    @Test(arguments: [0, 100])
    func `names that only look alike are two`(_ others: Int) {
        var names = ObjectDraft()
        for number in 0..<others { _ = names.insert("name \(number)") }
        for name in ["K", "\u{212A}", "k", "", "\u{E9}", "e\u{301}"] {
            let inserted = [names.insert(name), names.insert(name)]
            #expect(inserted == [true, false], "\(name)")
        }
    }
}

/// An object that is being read.
private struct ObjectDraft {
    private var names = MemberNames()
    private var members: [JSON.Member] = []

    mutating func insert(_ name: String) -> Bool {
        guard names.insert(name, behind: members) else { return false }
        members.append(JSON.Member(name, .null))
        return true
    }
}
