internal import CommandTable
internal import JOSE
internal import Lifecycle

/// `siwa manual`: a manual page, for `man -l -`.
struct ManualCommand: Command {
    static let name = "manual"
    static let abstract = "Print the manual page of siwa or of one command."
    static let examples = [
        Example("siwa manual exchange | man -l -", "Read the manual of a command.")
    ]
    static let parameters: [Parameter<Self>] =
        [.operand("COMMAND", \.words, help: "The command.", completion: .command)]
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var words: [String] = []

    func run(in world: World) async throws {
        let page = try siwaTool.manual(for: words.isEmpty ? nil : words.joined(separator: " "))
        try world.report(
            Report(["page": .string(page)], text: SecretText(withoutLineEnd(page))), global)
    }
}
