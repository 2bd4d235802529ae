/// What may be typed at each place of a command line, for the scripts of all three shells.
struct CompletionTree {
    /// A place: the words typed so far, and what can follow them.
    struct Node {
        /// The words, `config show`; empty at the beginning.
        let path: String

        /// The words that can follow, each with what it does.
        let next: [Entry]

        let parameters: [ParameterInfo]

        var operands: [ParameterInfo] { parameters.filter { $0.kind == .operand } }
        var flags: [ParameterInfo] { parameters.filter { $0.kind != .operand } }
        var options: [ParameterInfo] { parameters.filter { $0.kind == .option } }
    }

    let tool: String
    let nodes: [Node]

    init(_ info: ToolInfo) {
        tool = info.name
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

    /// The name of a shell function that belongs to the tool: hyphens are not welcome in one.
    var function: String { Self.identifier("_\(tool)") }

    static func identifier(_ text: String) -> String {
        String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// `help` is the parser's own, and completes like a command that takes the name of another.
    private static let helpCommand = CommandInfo(
        name: "help", abstract: "Explain a command.", discussion: "", examples: [],
        parameters: [
            ParameterInfo(
                kind: .operand, name: "COMMAND", short: nil, valueName: nil,
                help: "The command to explain.", arity: .repeating, choices: [], expectation: "",
                isSecret: false, completion: .command)
        ])

    private static func words(after path: String, in commands: [CommandInfo]) -> [Entry] {
        let depth = path.split(separator: " ").count
        var found: [Entry] = []
        for command in commands where path.isEmpty || command.isMember(of: path) {
            let words = command.name.split(separator: " ").map { String($0) }
            let word = words[depth]
            if words.count == depth + 1 {
                found.removeAll { $0.term == word }
                found.append(Entry(word, command.abstract))
            } else if !found.contains(where: { $0.term == word }) {
                found.append(Entry(word, "Commands that begin with \(word)."))
            }
        }
        return found
    }
}

extension ParameterInfo {
    /// `-k` and `--key`, as typed.
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [label] }
}
