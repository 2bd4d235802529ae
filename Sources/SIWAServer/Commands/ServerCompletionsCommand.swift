internal import CommandTable

/// `siwa-server completions`: prints the completion script of a shell.
struct ServerCompletionsCommand: Command {
    static let name = "completions"
    static let abstract = "Print completions for a shell."
    static let parameters: [Parameter<Self>] = [.operand("SHELL", \.$shell, help: "The shell.")]

    @Required var shell: Shell

    func run(in world: ServerWorld) async throws {
        try world.print(serverTool.completions(for: shell))
    }
}
