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
