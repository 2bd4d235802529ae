internal import CommandTable

/// `siwa-server completions`: the script that teaches a shell this command line.
struct ServerCompletionsCommand: Command {
    static let name = "completions"
    static let abstract = "Print completions for a shell."
    static let parameters: [Parameter<Self>] = [.operand("SHELL", \.$shell, help: "The shell.")]

    @Required var shell: Shell

    func run(in world: ServerWorld) async throws {
        try world.print(serverTool.completions(for: shell))
    }
}
