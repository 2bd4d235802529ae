internal import CommandTable
internal import JOSE
internal import Lifecycle

/// `siwa completions`: prints the completion script of a shell.
struct CompletionsCommand: Command {
    static let name = "completions"
    static let abstract = "Print completions for a shell."
    static let examples = [
        Example("source <(siwa completions bash)", "Complete siwa in this shell."),
        Example(
            "siwa completions zsh > ~/.zfunc/_siwa", "Keep them where zsh's fpath finds them."),
        Example(
            "siwa completions fish > ~/.config/fish/completions/siwa.fish",
            "Keep them where fish finds them."),
    ]
    static let parameters: [Parameter<Self>] =
        [.operand("SHELL", \.$shell, help: "The shell.")] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var shell: Shell

    func run(in world: World) async throws {
        let script = siwaTool.completions(for: shell)
        try world.report(
            Report(
                ["shell": .string(shell.rawValue), "script": .string(script)],
                text: SecretText(withoutLineEnd(script))), global)
    }
}
