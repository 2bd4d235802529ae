/// `*` matches anything on a line, a line `...` for any number of lines.
enum Glob {
    static func match(_ lines: ArraySlice<String>, _ patterns: ArraySlice<String>) -> Bool {
        guard let pattern = patterns.first else { return lines.isEmpty }
        if pattern == "..." {
            return (lines.startIndex...lines.endIndex).contains {
                match(lines[$0...], patterns.dropFirst())
            }
        }
        guard let line = lines.first, match(line, pattern) else { return false }
        return match(lines.dropFirst(), patterns.dropFirst())
    }

    private static func match(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return line == pattern }
        guard line.hasPrefix(parts[0]) else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts[1..<parts.count - 1] where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }
}

/// The words of a line as a shell would split it: by spaces, except between quotes.
struct ShellWords {
    private(set) var words: [String] = []

    init(_ line: String) {
        var word: String?
        var quote: Character?
        for character in line {
            switch (quote, character) {
            case (nil, "'"), (nil, "\""):
                quote = character
                word = word ?? ""
            case (let open?, _) where open == character: quote = nil
            case (nil, " "):
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
    }
}
