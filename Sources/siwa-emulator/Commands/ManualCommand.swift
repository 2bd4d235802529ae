internal import CommandTable

/// `siwa-emulator manual`: a manual page, for `man -l -`.
struct ManualCommand: Command {
    static let name = "manual"
    static let abstract = "Print the manual page of siwa-emulator or of one command."
    static let parameters: [Parameter<Self>] = [
        .operand("COMMAND", \.command, help: "The command.", completion: .command)
    ]

    var command: String?

    func run(in console: Console) async throws {
        try console.print(try emulatorTool.manual(for: command))
    }
}
