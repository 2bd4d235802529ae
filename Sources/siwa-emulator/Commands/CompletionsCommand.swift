internal import CommandTable

/// `siwa-emulator completions`: prints the completion script of a shell.
struct CompletionsCommand: Command {
    static let name = "completions"
    static let abstract = "Print completions for a shell."
    static let parameters: [Parameter<Self>] = [
        .operand("SHELL", \.$shell, help: "The shell.")
    ]

    @Required var shell: Shell

    func run(in console: Console) async throws {
        try console.print(emulatorTool.completions(for: shell))
    }
}
