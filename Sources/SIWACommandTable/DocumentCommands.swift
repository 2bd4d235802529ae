/// Options that several commands share.
package protocol OptionGroup: Sendable {
    /// The defaults.
    init()

    /// The options as those of a `Root` that has the group at `path`.
    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>]
}

/// The options of a tool whose commands share none.
package struct NoOptions: OptionGroup {
    /// No options.
    package init() {}

    /// No parameters.
    package static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] { [] }
}

/// The world of a tool that has the commands ``ManualCommand`` and ``CompletionsCommand``.
package protocol ToolWorld: Sendable {
    /// The options that every command of the tool has.
    associatedtype GlobalOptions: OptionGroup

    /// The table that the documents describe.
    static var tool: Tool<Self> { get }

    func print(_ document: ToolDocument, _ options: GlobalOptions) throws

    /// Writes documents into a folder, all or none of them, and prints their paths.
    func write(_ documents: [ToolDocument], into folder: String, _ options: GlobalOptions) throws
}

/// `manual`: a manual page for `man -l -`, or all of them as files.
package struct ManualCommand<World: ToolWorld>: Command {
    package static var name: String { "manual" }
    package static var abstract: String {
        "Print the manual page of \(World.tool.name) or of one command."
    }
    package static var examples: [Example] {
        let tool = World.tool
        return [
            Example(
                "\(tool.name) manual \(tool.commands[0].name) | man -l -",
                "Read the manual of a command."),
            Example(
                "\(tool.name) manual --all /usr/local/share/man/man1", "Install all manual pages."),
        ]
    }
    package static var parameters: [Parameter<Self>] {
        [
            .operand("COMMAND", \.words, help: "The command.", completion: .command),
            .option(
                "all", \.folder, value: "DIR",
                help: "Write every manual page into DIR, which must exist.",
                completion: .directory),
        ] + World.GlobalOptions.parameters(at: \.global)
    }

    var global = World.GlobalOptions()
    var words: [String] = []
    var folder: String?

    package init() {}

    package func run(in world: World) async throws {
        guard let folder else {
            let command = words.isEmpty ? nil : words.joined(separator: " ")
            return try world.print(try World.tool.manualPage(for: command), global)
        }
        try Self.checkAlone(words.isEmpty, "COMMAND")
        try world.write(World.tool.manualPages(), into: folder, global)
    }
}

/// `completions`: the completion script of a shell, or those of all shells as files.
package struct CompletionsCommand<World: ToolWorld>: Command {
    package static var name: String { "completions" }
    package static var abstract: String { "Print completions for a shell." }
    package static var examples: [Example] {
        let tool = World.tool.name
        return [
            Example("source <(\(tool) completions bash)", "Complete \(tool) in this shell."),
            Example(
                "\(tool) completions zsh > ~/.zfunc/_\(tool)",
                "Keep them where zsh's fpath finds them."),
            Example(
                "\(tool) completions fish > ~/.config/fish/completions/\(tool).fish",
                "Keep them where fish finds them."),
            Example(
                "\(tool) completions --all /usr/local/share", "Install them for all three shells."),
        ]
    }
    package static var parameters: [Parameter<Self>] {
        [
            .operand("SHELL", \.shell, help: "The shell; required without --all."),
            .option(
                "all", \.folder, value: "DIR",
                help: """
                    Write the scripts of all shells below DIR, which must exist, where the shells \
                    look for them in /usr/share.
                    """,
                completion: .directory),
        ] + World.GlobalOptions.parameters(at: \.global)
    }

    var global = World.GlobalOptions()
    var shell: Shell?
    var folder: String?

    package init() {}

    package func run(in world: World) async throws {
        if let folder {
            try Self.checkAlone(shell == nil, "SHELL")
            return try world.write(World.tool.completionScripts(), into: folder, global)
        }
        guard let shell else {
            throw World.tool.error(.missingParameters(["SHELL"]), in: Self.name)
        }
        try world.print(World.tool.completionScript(for: shell), global)
    }
}

extension Command where World: ToolWorld {
    fileprivate static func checkAlone(_ isAlone: Bool, _ operand: String) throws(UsageError) {
        guard !isAlone else { return }
        throw World.tool.error(
            .misuse(
                message: "\(operand) and --all exclude each other", hints: ["leave out one of them"]
            ),
            in: name)
    }
}
