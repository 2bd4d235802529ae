// Text that help and manual share.
extension ParameterInfo {
    /// `-k, --key FILE`; indented without a letter, so that long names are aligned.
    var helpEntry: Definition {
        let letter = short.map { "-\($0), " } ?? (kind == .operand ? "" : "    ")
        return Definition(letter + usage, meaning)
    }

    /// The help, and the requirements of the type in brackets.
    var meaning: String { ([help] + remarks).joined(separator: " ") }

    private var remarks: [String] {
        var remarks: [String] = []
        if !choices.isEmpty { remarks.append("[one of: \(choices.joined(separator: ", "))]") }
        if let defaultValue, !defaultValue.isEmpty { remarks.append("[default: \(defaultValue)]") }
        if kind == .option, isRequired { remarks.append("[required]") }
        if kind == .option, repeats { remarks.append("[repeats]") }
        return remarks
    }
}

extension CommandInfo {
    var entry: Definition { Definition(name, abstract) }

    /// Whether the name begins with `word` and has further words.
    func isMember(of word: String) -> Bool { name.hasPrefix(word + " ") }

    /// The usage line after the name of the tool, with all required parameters.
    var synopsis: [String] {
        let required = parameters.filter { $0.kind == .option && $0.isRequired }.map(\.usage)
        return [name] + required + ["[OPTIONS]"] + operands.map(\.synopsis)
    }

    /// How secrets are given; nil if the command takes no secret.
    var secretsNote: String? {
        guard !secrets.isEmpty else { return nil }
        let takers = listed(secrets.map(\.label), "and")
        return """
            \(takers) \(secrets.count == 1 ? "takes" : "take") the value itself, - (the first line \
            of standard input), @PATH (the first line of a file) or @env:NAME (an environment \
            variable). Prefer the last three: every process on the machine can read the command \
            line.
            """
    }
}

extension ParameterInfo {
    fileprivate var synopsis: String {
        switch arity {
        case .required: name
        case .optional, .defaulted: "[\(name)]"
        case .repeating: "[\(name)...]"
        }
    }
}
