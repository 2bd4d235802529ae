/// The command line is invalid: what is wrong, and which help explains it.
///
/// It contains what was typed only if that cannot be a secret, so printing an error reveals none.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package let problem: Problem

    /// The command whose help explains it: `siwa secret`, or `siwa` if no command was recognised.
    package let subject: String

    /// An error that `subject --help` explains; commands make their own with `Problem.misuse`.
    package init(problem: Problem, subject: String) {
        self.problem = problem
        self.subject = subject
    }

    /// The message; see ``message``.
    package var description: String { message }

    /// What is wrong with a command line.
    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// No command was typed.
        case missingCommand

        /// The table has no such command; `typed` is nil when it may be a secret.
        case unknownCommand(typed: String?, suggestions: [String])

        /// The first word of a command is given, and the second one is missing or wrong.
        case incompleteCommand(word: String, candidates: [String], suggestions: [String])

        /// There is no such flag; `typed` is nil when it may be a secret. An argument of a command that
        /// takes operands may be one that begins with a hyphen.
        case unknownFlag(
            typed: String?, suggestions: [String], beforeCommand: Bool, mayBeOperand: Bool)

        /// A flag was given a value with `=`.
        case unexpectedValue(flag: String)

        /// The value is missing, or what follows looks like a flag.
        case missingValue(option: String, followedByFlag: Bool)

        /// The value is invalid; `typed` is nil for a secret parameter.
        case refusedValue(
            parameter: String, typed: String?, expectation: String, suggestions: [String])

        /// An option that does not repeat was given more than once.
        case repeated(option: String)

        /// One operand too many; `typed` is nil when the command takes secrets. `option` is the
        /// option that it was probably meant for.
        case unexpectedOperand(typed: String?, option: String? = nil)

        /// More than one value is to be read from standard input.
        case standardInputShared(parameters: [String])

        /// Required parameters are missing.
        case missingParameters([String])

        /// A fault that only the command can detect, such as two options that exclude each other.
        case misuse(message: String, hints: [String])

        /// What is wrong, as a sentence without a full stop.
        package var description: String { message }
    }
}

extension UsageError {
    /// What to try, the likeliest first; the last one says where to read more.
    package var hints: [String] {
        problem.hints + ["see '\(subject) --help'"]
    }
}

extension UsageError.Problem {
    fileprivate var hints: [String] {
        switch self {
        case .unknownCommand(_, let suggestions), .incompleteCommand(_, _, let suggestions),
            .refusedValue(_, _, _, let suggestions):
            didYouMean(suggestions)
        case .unknownFlag(_, let suggestions, let beforeCommand, let mayBeOperand):
            didYouMean(suggestions)
                + (beforeCommand ? ["put the flags of a command after the command"] : [])
                + (mayBeOperand ? ["put '--' before an argument that begins with '-'"] : [])
        case .missingValue(let option, true):
            ["a value that begins with '-' is written \(attached(option))"]
        case .unexpectedOperand(_, let option?): ["write \(option) before it"]
        case .misuse(_, let hints): hints
        default: []
        }
    }

    private func attached(_ option: String) -> String {
        option.hasPrefix("--") ? "\(option)=VALUE" : "\(option)VALUE"
    }
}

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
