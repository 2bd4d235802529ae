/// The settings or the key cannot be used.
struct SettingsError: Error, Sendable {
    /// The word an error line begins with.
    enum Subject: String, Sendable {
        case configuration
        case key
        /// A library that siwa loads when it needs it.
        case unavailable
    }

    let subject: Subject
    let message: String
    let hints: [String]

    init(_ message: String, hints: [String] = []) {
        self.init(.configuration, message, hints: hints)
    }

    init(_ subject: Subject, _ message: String, hints: [String] = []) {
        self.subject = subject
        self.message = message
        self.hints = hints
    }
}

/// A call that the table accepts and the command cannot obey.
struct CallError: Error, Sendable {
    let message: String
    let hints: [String]

    init(_ message: String, hints: [String] = []) {
        self.message = message
        self.hints = hints
    }
}
