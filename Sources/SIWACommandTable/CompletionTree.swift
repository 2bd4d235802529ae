/// What may be typed at each place of a command line, for the scripts of all three shells.
struct CompletionTree {
    /// A place: the words typed so far, and what can follow them.
    struct Node {
        /// The words, `config show`; empty at the beginning.
        let path: String

        /// The words that can follow, each with its description.
        let next: [Definition]

        let parameters: [ParameterInfo]

        var operands: [ParameterInfo] { parameters.filter { $0.kind == .operand } }
        var flags: [ParameterInfo] { parameters.filter { $0.kind != .operand } }
        var options: [ParameterInfo] { parameters.filter { $0.kind == .option } }
    }

    let tool: String
    let nodes: [Node]

    init(_ info: ToolInfo) {
        tool = info.name
        topics = [Self.optionsTopic] + info.topics
        let commands = info.commands + [Self.helpCommand]
        let paths = commands.flatMap { command in
            let words = command.name.split(separator: " ")
            return (0...words.count).map { words.prefix($0).joined(separator: " ") }
        }
        var seen: Set<String> = []
        nodes = paths.filter { seen.insert($0).inserted }.map { path in
            let command = commands.first { $0.name == path }
            return Node(
                path: path, next: Self.words(after: path, in: commands),
                parameters: command?.parameters ?? info.globals)
        }
    }

    /// The name of a shell function of the tool, without hyphens.
    var function: String { Self.identifier("_\(tool)") }

    static func identifier(_ text: String) -> String {
        String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// The topics of `help` that are no commands.
    let topics: [Definition]

    private static let optionsTopic = Definition(
        "options", "Explain the options of every command.")

    /// `help` is handled by the parser; it completes like a command that takes another command's
    /// name.
    private static let helpCommand = CommandInfo(
        name: "help", abstract: "Explain a command.", discussion: "", examples: [],
        parameters: [
            ParameterInfo(
                kind: .operand, name: "COMMAND", short: nil, valueName: nil,
                help: "The command to explain.", arity: .repeating, choices: [], expectation: "",
                isSecret: false, valuePrefixes: [], completion: .topic)
        ])

    /// The words that can follow `path`, in the order of the table.
    private static func words(after path: String, in commands: [CommandInfo]) -> [Definition] {
        let depth = path.split(separator: " ").count
        let members = commands.filter { path.isEmpty || $0.isMember(of: path) }
        let words = members.map { String($0.name.split(separator: " ")[depth]) }
        return words.enumerated().filter { words.firstIndex(of: $1) == $0 }.map { _, word in
            let name = path.isEmpty ? word : "\(path) \(word)"
            let command = members.first { $0.name == name }
            return Definition(word, command?.abstract ?? Self.group(name, in: members))
        }
    }

    /// The description of a word that is only the beginning of commands: the words that can follow.
    private static func group(_ name: String, in commands: [CommandInfo]) -> String {
        commands.filter { $0.isMember(of: name) }.map { $0.name.dropFirst(name.count + 1) }
            .joined(separator: ", ")
    }
}

extension ParameterInfo {
    /// `-k` and `--key`, as typed.
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [label] }

    /// Whether its values are the words of a command's name.
    var takesCommand: Bool { completion == .command || completion == .topic }

    /// The completions that a shell can offer for a value.
    enum Offer {
        case nothing
        case choices([String])
        case files
        case directories
        case commands

        /// The commands and ``CompletionTree/optionsTopic``.
        case topics

        /// The lines that this command of the tool prints.
        case lines(String)

        /// Files after an `@`; nothing for the secret itself.
        case secret
    }

    var offer: Offer {
        if !choices.isEmpty { return .choices(choices) }
        return switch completion {
        case .none: isSecret ? .secret : .nothing
        case .file: .files
        case .directory: .directories
        case .command: .commands
        case .topic: .topics
        case .lines(let command): .lines(command)
        }
    }
}

/// The shells with completions.
package enum Shell: String, CaseIterable, ParameterValue {
    /// GNU Bash, 4.3 or newer.
    case bash

    /// Z shell, with its completion system loaded.
    case zsh

    /// fish, 3 or newer.
    case fish
}
