/// The command line is invalid: what is wrong, and which help explains it.
///
/// It contains what was typed only where that cannot be a secret, so printing an error cannot leak
/// one.
package struct UsageError: Error, Hashable, Sendable {
    /// What is wrong.
    package let problem: Problem

    /// Whose help explains it: `siwa secret`, or `siwa` when no command was understood.
    package let subject: String

    /// An error that `subject --help` explains; commands make their own with `Problem.misuse`.
    package init(problem: Problem, subject: String) {
        self.problem = problem
        self.subject = subject
    }

    /// What is wrong with a command line.
    package enum Problem: Error, Hashable, Sendable {
        /// No command was typed.
        case missingCommand

        /// The table has no such command; `typed` is nil when it may be a secret.
        case unknownCommand(typed: String?, suggestions: [String])

        /// The word begins commands of two words, and the second one is missing or wrong.
        case incompleteCommand(word: String, candidates: [String], suggestions: [String])

        /// There is no such flag; `typed` is nil when it may be a secret.
        case unknownFlag(typed: String?, suggestions: [String], beforeCommand: Bool)

        /// A flag, which takes no value, was given one with `=`.
        case unexpectedValue(flag: String)

        /// The value is missing, or what follows looks like a flag.
        case missingValue(option: String, followedByFlag: Bool)

        /// The value is not what the parameter takes; `typed` is nil for a secret parameter.
        case refusedValue(
            parameter: String, typed: String?, expectation: String, suggestions: [String])

        /// An option that does not repeat was given more than once.
        case repeated(option: String)

        /// One operand too many; `typed` is nil when the command takes secrets.
        case unexpectedOperand(typed: String?)

        /// More than one value is to be read from standard input.
        case standardInputShared(parameters: [String])

        /// Parameters the command cannot run without.
        case missingParameters([String])

        /// What only the command itself can see, such as two options that exclude each other.
        case misuse(message: String, hints: [String])
    }
}
