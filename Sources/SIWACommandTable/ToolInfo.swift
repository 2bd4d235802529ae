/// The whole table as plain data: what help, manual and completions read.
struct ToolInfo: Codable, Hashable, Sendable {
    let name: String
    let version: String
    let released: String
    let abstract: String
    let discussion: String
    let commands: [CommandInfo]
    let globals: [ParameterInfo]
    let environment: [Definition]
    let exitCodes: [Definition]
    /// The topics of `help` that are no commands.
    let topics: [Definition]
}

/// One command as plain data, the built-in flags included.
struct CommandInfo: Codable, Hashable, Sendable {
    let name: String
    let abstract: String
    let discussion: String
    let examples: [Example]
    let parameters: [ParameterInfo]

    var operands: [ParameterInfo] { parameters.filter { $0.kind == .operand } }
    var options: [ParameterInfo] { parameters.filter { $0.kind != .operand && !$0.isGlobal } }
    var globals: [ParameterInfo] { parameters.filter { $0.kind != .operand && $0.isGlobal } }
    var secrets: [ParameterInfo] { parameters.filter(\.isSecret) }
}

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
