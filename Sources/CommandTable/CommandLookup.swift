/// Finds the command that words name; the longest name wins.
struct CommandLookup {
    enum Match: Equatable {
        /// The command at that place in the table, which took so many words.
        case command(Int, words: Int)

        /// A word that only begins names.
        case group(String)
    }

    let names: [String]

    func match(_ words: [String]) throws(UsageError.Problem) -> Match {
        for count in stride(from: min(words.count, longest), to: 0, by: -1) {
            let name = phrase(words.prefix(count))
            if let index = names.firstIndex(of: name) { return .command(index, words: count) }
        }
        guard let word = words.first else { throw .missingCommand }
        guard members(of: word).isEmpty else { return .group(word) }
        throw .unknownCommand(typed: quotedName(word), suggestions: near(words))
    }

    /// The error for a line that names a group without one of its commands.
    func incomplete(_ words: [String]) -> UsageError.Problem {
        let word = words.first ?? ""
        let suggestions = words.count > 1 ? near(words, shortest: 2) : []
        let typed = words.prefix(2).joined(separator: " ")
        guard suggestions.isEmpty || quotedName(words[1]) == nil else {
            return .unknownCommand(typed: "'\(typed)'", suggestions: suggestions)
        }
        return .incompleteCommand(
            word: word, candidates: members(of: word), suggestions: suggestions)
    }

    /// The names that begin with `word` and go on.
    func members(of word: String) -> [String] {
        names.filter { $0.hasPrefix(word + " ") }
    }

    /// As many words as the longest name has: no more are ever looked at.
    var longest: Int {
        names.map(wordCount).max() ?? 1
    }

    /// Compares the first words with the first words of every name, as many as help.
    private func near(_ words: [String], shortest: Int = 1) -> [String] {
        for count in stride(from: min(words.count, longest), through: shortest, by: -1) {
            let typed = phrase(words.prefix(count))
            let found = suggestions(for: typed, among: beginnings(count))
            if !found.isEmpty { return found }
        }
        return []
    }

    /// The first `count` words of every name that has as many, each once.
    private func beginnings(_ count: Int) -> [String] {
        names.reduce(into: []) { found, name in
            let words = name.split(separator: " ")
            let beginning = words.prefix(count).joined(separator: " ")
            if words.count >= count, !found.contains(beginning) { found.append(beginning) }
        }
    }

    /// `joined` would look up what an ArraySlice is, at every start.
    private func phrase(_ words: ArraySlice<String>) -> String {
        words.dropFirst().reduce(words.first ?? "") { $0 + " " + $1 }
    }

    private func wordCount(_ name: String) -> Int {
        1 + name.utf8.count { $0 == UInt8(ascii: " ") }
    }
}
