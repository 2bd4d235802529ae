package import SIWACommandTable

extension UsageError: DiagnosableError {
    package var diagnosis: Diagnosis { Diagnosis(.usage, message, hints: hints, exitCode: .usage) }
}

extension UsageError.Problem {
    /// A command line that the parser accepts but the command cannot carry out.
    package static func misuse(_ message: String, hint: String) -> Self {
        .misuse(message: message, hints: [hint])
    }
}
