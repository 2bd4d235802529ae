/// The settings or the key cannot be used.
struct SettingsError: Error, Sendable {
    /// Which of the two words an error line begins with.
    enum Subject: String, Sendable {
        case configuration
        case key
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
