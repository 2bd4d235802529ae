extension Tool {
    /// The faults of the table itself; empty if it is right.
    ///
    /// For the program's own tests: the compiler cannot see that two options share a name.
    package func faults() -> [String] {
        info.faults
    }
}

extension ToolInfo {
    var faults: [String] {
        (isDated ? [] : ["the day of release is not written as 2025-01-31"])
            + repeated(commands.map(\.name)).map { "two commands are named '\($0)'" }
            + ["help", "version"].filter { own in commands.contains { $0.name == own } }
            .map { "'\($0)' is the parser's own" }
            + commands.flatMap(\.faults)
            + globals.filter { !$0.isGlobal }.map { "\($0.label) is not marked global" }
            + globals.flatMap(\.faults).map { "globals: \($0)" }
    }

    private var isDated: Bool { released.allSatisfy { "0123456789-".contains($0) } }
}

extension CommandInfo {
    fileprivate var faults: [String] {
        (ownFaults + parameters.flatMap(\.faults) + orderFaults + clashes)
            .map { "\(name): \($0)" }
    }

    private var ownFaults: [String] {
        let words = name.split(separator: " ", omittingEmptySubsequences: false)
        let isNamed = words.allSatisfy { isHyphenated($0, letters: "a"..."z") }
        return (isNamed ? [] : ["the name is not lower-case words with hyphens"])
            + (abstract.hasSuffix(".") ? [] : ["the abstract does not end in a full stop"])
    }

    private var clashes: [String] {
        repeated(parameters.map(\.label)).map { "\($0) occurs twice" }
            + repeated(parameters.compactMap(\.short)).map { "-\($0) occurs twice" }
    }

    /// Operands that can never be reached, or whose position depends on omitted ones.
    private var orderFaults: [String] {
        zip(operands, operands.dropFirst()).flatMap { operand, next -> [String] in
            (operand.repeats ? ["\(next.name) follows \(operand.name), which takes the rest"] : [])
                + (next.isRequired && !operand.isRequired
                    ? ["\(next.name) is required but follows \(operand.name), which is not"] : [])
        }
    }
}

extension ParameterInfo {
    fileprivate var faults: [String] {
        let letterCase = kind == .operand ? "upper" : "lower"
        let problems: [(Bool, String)] = [
            (!help.hasSuffix("."), "the help does not end in a full stop"),
            (!isNamedWell, "the name is not in \(letterCase) case with hyphens"),
            (kind == .option && valueName?.isEmpty != false, "the value has no name"),
            (kind == .flag && !choices.isEmpty, "a flag has choices"),
            (short.map { !isLetter($0) } ?? false, "the short name is not one letter or digit"),
            // Completions separate choices by spaces, and the three shells quote differently.
            (!choices.allSatisfy(isPlain), "a choice has characters that shells take for theirs"),
        ]
        return problems.filter(\.0).map { "\(label): \($0.1)" }
    }

    private var isNamedWell: Bool {
        isHyphenated(name[...], letters: kind == .operand ? "A"..."Z" : "a"..."z")
    }
}

private func isHyphenated(_ word: Substring, letters: ClosedRange<Character>) -> Bool {
    !word.isEmpty && word.first != "-" && word.last != "-"
        && word.allSatisfy { letters.contains($0) || ("0"..."9").contains($0) || $0 == "-" }
}

private func isLetter(_ short: String) -> Bool {
    short.utf8.count == 1 && short.allSatisfy { $0.isLetter || $0.isNumber }
}

private func isPlain(_ choice: String) -> Bool {
    !choice.isEmpty
        && choice.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.+/".contains($0)) }
}

/// The names that occur more than once.
private func repeated(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    var again: Set<String> = []
    return names.filter { !seen.insert($0).inserted && again.insert($0).inserted }
}
