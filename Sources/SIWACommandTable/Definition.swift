/// A term and what it means: an environment variable, an exit code.
package struct Definition: Codable, Hashable, Sendable {
    /// The term, such as `SIWA_PROFILE` or `75`.
    package let term: String

    /// What the term means, as one or more sentences.
    package let meaning: String

    /// Explains `term`.
    package init(_ term: String, _ meaning: String) {
        self.term = term
        self.meaning = meaning
    }
}

/// A useful call and its effect.
package struct Example: Codable, Hashable, Sendable {
    /// The whole line, beginning with the tool's name.
    package let command: String

    /// What the line achieves, in one sentence.
    package let meaning: String

    /// Shows `command`.
    package init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }
}
