internal import CommandTable
internal import Lifecycle
internal import SIWACLI

/// `siwa-server check`: tells whether `serve` would start.
struct CheckCommand: Command {
    static let name = "check"
    static let abstract = "Read the settings, open the database and mint a client secret."
    static let discussion = """
        The exit code is 0 if siwa-server serve would start, and 3 if it would not. No listener is \
        opened. One request for Apple's public keys compares the clocks: a difference of more than \
        5 seconds is a warning. No answer is no error.
        """
    static let examples = [
        Example(
            "siwa-server check && systemctl reload siwa-server",
            "Reload only a valid configuration.")
    ]
    static let parameters = ConfigurationOption.parameters(at: \Self.configuration)

    var configuration = ConfigurationOption()

    func run(in world: ServerWorld) async throws {
        let checked: CheckedServer
        do {
            checked = try await CheckedServer(configuration.file, in: world)
        } catch {
            // Also for an unavailable database, for which `serve` has another exit code.
            throw Diagnosis(error.code, error.message, hints: error.hints, exitCode: .settings)
        }
        try world.print(checked.summary)
        for warning in checked.warnings {
            world.base.errorLine("siwa-server: warning: \(warning)")
        }
    }
}
