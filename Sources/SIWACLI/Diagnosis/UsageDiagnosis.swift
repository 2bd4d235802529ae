internal import CommandTable

extension UsageError: DiagnosableError {
    var diagnosis: Diagnosis { Diagnosis("usage", message, hints: hints, exitCode: .usage) }
}

extension UsageError.Problem {
    /// A command line that the parser accepts but the command cannot carry out.
    static func misuse(_ message: String, hint: String) -> Self {
        .misuse(message: message, hints: [hint])
    }
}
