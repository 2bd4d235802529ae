/// The settings or the key cannot be used.
struct SettingsError: DiagnosableError {
    /// The word an error line begins with.
    enum Subject: String, Sendable {
        case configuration
        case key
        /// A library that siwa loads when it needs it.
        case unavailable
        /// A flag holds the value: the command line must be fixed, not the settings.
        case usage
    }

    let subject: Subject
    let message: String
    let hints: [String]

    init(_ message: String, hints: [String]) {
        self.init(.configuration, message, hints: hints)
    }

    /// A value that cannot be used; its origin decides what must be fixed.
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
