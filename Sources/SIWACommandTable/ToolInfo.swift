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
