/// Finds the command that the words of a line name; the longest match is used.
struct CommandLookup {
    enum Match: Equatable {
        /// The command at an index of the table, and the number of words of its name.
        case command(Int, words: Int)

        /// A word that is only the beginning of commands.
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

    /// The names that begin with `word` and have further words.
    func members(of word: String) -> [String] {
        names.filter { $0.hasPrefix(word + " ") }
    }

    /// The number of words of the longest name; later words are not examined.
    var longest: Int {
        names.map(wordCount).max() ?? 1
    }

    /// Compares the first words with the first words of every name.
    private func near(_ words: [String], shortest: Int = 1) -> [String] {
        for count in stride(from: min(words.count, longest), through: shortest, by: -1) {
            let typed = phrase(words.prefix(count))
            let found = suggestions(for: typed, among: beginnings(count))
            if !found.isEmpty { return found }
        }
        return []
    }

    /// The first `count` words of every name that has at least that many, without repetitions.
    private func beginnings(_ count: Int) -> [String] {
        names.reduce(into: []) { found, name in
            let words = name.split(separator: " ")
            let beginning = words.prefix(count).joined(separator: " ")
            if words.count >= count, !found.contains(beginning) { found.append(beginning) }
        }
    }

    /// Not `joined`, which would look up the type of ArraySlice at every start.
    private func phrase(_ words: ArraySlice<String>) -> String {
        words.dropFirst().reduce(words.first ?? "") { $0 + " " + $1 }
    }

    private func wordCount(_ name: String) -> Int {
        1 + name.utf8.count { $0 == UInt8(ascii: " ") }
    }
}
