/// The settings or the key cannot be used.
package struct SettingsError: DiagnosableError {
    /// The code with which an error line begins.
    package enum Subject: Sendable {
        case configuration
        case key
        /// A library that is loaded on demand is missing.
        case unavailable
        /// A signer must not or cannot be used.
        case unusableSigner
        /// The value of a flag is invalid: the command line must be fixed.
        case usage

        fileprivate var code: ErrorCode {
            switch self {
            case .configuration: .configuration
            case .key: .key
            case .unavailable: .unavailable
            case .unusableSigner: .signerUnusable
            case .usage: .usage
            }
        }
    }

    let subject: Subject
    package let message: String
    package let hints: [String]

    package init(_ message: String, hints: [String]) {
        self.init(.configuration, message, hints: hints)
    }

    /// Creates the error of an invalid value; its origin determines what must be fixed.
    package init(_ message: String, from origin: Origin, hints: [String] = []) {
        let subject: Subject = if case .flag = origin { .usage } else { .configuration }
        self.init(subject, message, hints: ["fix it where it is set: \(origin)"] + hints)
    }

    package init(_ subject: Subject, _ message: String, hints: [String]) {
        self.subject = subject
        self.message = message
        self.hints = hints
    }

    package var diagnosis: Diagnosis {
        Diagnosis(
            subject.code, message, hints: hints,
            exitCode: subject == .usage ? .usage : .settings)
    }
}
