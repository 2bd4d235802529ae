internal import CommandTable

/// `siwa-server manual`: a manual page, for `man -l -`.
struct ServerManualCommand: Command {
    static let name = "manual"
    static let abstract = "Print the manual page of siwa-server or of one command."
    static let parameters: [Parameter<Self>] = [
        .operand("COMMAND", \.words, help: "The command.", completion: .command)
    ]

    var words: [String] = []

    func run(in world: ServerWorld) async throws {
        try world.print(
            try serverTool.manual(
                for: words.isEmpty ? nil : words.joined(separator: " ")))
    }
}
