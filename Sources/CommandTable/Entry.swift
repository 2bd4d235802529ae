/// A term and what it means: an environment variable, an exit code.
public struct Entry: Codable, Hashable, Sendable {
    /// The thing explained, such as `SIWA_PROFILE` or `75`.
    public let term: String

    /// The explanation.
    public let meaning: String

    /// Explains `term`.
    public init(_ term: String, _ meaning: String) {
        self.term = term
        self.meaning = meaning
    }
}

/// A call worth copying and what it achieves.
public struct Example: Codable, Hashable, Sendable {
    /// The whole line, beginning with the tool's name.
    public let command: String

    /// What the line achieves, in one sentence.
    public let meaning: String

    /// Shows `command`.
    public init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }
}
