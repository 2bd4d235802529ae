/// The settings or the key cannot be used.
struct SettingsError: DiagnosableError {
    /// The code with which an error line begins.
    enum Subject: String, Sendable {
        case configuration
        case key
        /// A library that is loaded on demand is missing.
        case unavailable
        /// The value of a flag is invalid: the command line must be fixed.
        case usage
    }

    let subject: Subject
    let message: String
    let hints: [String]

    init(_ message: String, hints: [String]) {
        self.init(.configuration, message, hints: hints)
    }

    /// Creates the error of an invalid value; its origin determines what must be fixed.
    init(_ message: String, from origin: Origin, hints: [String] = []) {
        let subject: Subject = if case .flag = origin { .usage } else { .configuration }
        self.init(subject, message, hints: ["fix it where it is set: \(origin)"] + hints)
    }

    init(_ subject: Subject, _ message: String, hints: [String]) {
        self.subject = subject
        self.message = message
        self.hints = hints
    }

    var diagnosis: Diagnosis {
        Diagnosis(
            subject.rawValue, message, hints: hints,
            exitCode: subject == .usage ? .usage : .settings)
    }
}
