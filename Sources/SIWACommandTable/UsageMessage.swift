extension UsageError {
    /// One line, lower case and without a full stop, that names what was typed but no secret.
    package var message: String { problem.message }
}

extension UsageError.Problem {
    var message: String {
        switch self {
        case .missingCommand: "a command is missing"
        case .unknownCommand(let typed, _): "unknown command" + naming(typed)
        case .incompleteCommand(let word, let candidates, _):
            "'\(word)' needs a second word: \(listed(candidates, "or"))"
        case .unknownFlag(let typed, _, _, _): "unknown flag" + naming(typed)
        case .unexpectedValue(let flag): "\(flag) takes no value"
        case .missingValue(let option, _): "\(option) needs a value"
        case .refusedValue(let parameter, let typed, let expectation, _):
            "\(parameter) needs \(expectation)" + (typed.map { ", not \($0)" } ?? "")
        case .repeated(let option): "\(option) is given more than once"
        case .unexpectedOperand(let typed, _): "unexpected argument" + naming(typed)
        case .standardInputShared(let parameters):
            "standard input can give only one value, but \(listed(parameters, "and")) ask for it"
        case .misuse(let message, _): message
        case .missingParameters(let parameters): "missing \(listed(parameters, "and"))"
        }
    }

    private func naming(_ typed: String?) -> String {
        typed.map { " \($0)" } ?? " (not shown, as it may be a secret)"
    }
}

/// "a, b and c".
func listed(_ items: [String], _ conjunction: String) -> String {
    guard let last = items.last, items.count > 1 else { return items.first ?? "" }
    return items.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
}
