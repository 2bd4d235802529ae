internal import SIWAApplication
internal import SIWACommandTable
internal import SIWALifecycle

/// `siwa-server check`: tells whether `serve` would start.
struct CheckCommand: Command {
    static let name = "check"
    static let abstract = "Check settings, keys and database as serve does, and change nothing."
    static let discussion = """
        Exits as siwa-server serve would: with 0 if it would start, 75 if the database is down or \
        a standby, else 3. Nothing is changed: a migration that serve would make is named. Groups, \
        folders and ports of listeners are tried, but not the sockets of the service manager \
        (systemd:NAME); a running server is no error. One request for Apple's public keys \
        compares the clocks: a difference of more than 5 seconds is a warning. If Apple does not \
        answer, the clocks are not compared.
        """
    static let examples = [
        Example(
            "siwa-server check && systemctl restart siwa-server",
            "Restart only with a valid configuration.")
    ]
    static let parameters = ConfigurationOption.parameters(at: \Self.configuration)

    var configuration = ConfigurationOption()

    func run(in world: ServerWorld) async throws {
        let checked = try await CheckedServer(configuration.file, in: world)
        try world.print(checked.summary)
        for warning in checked.warnings {
            world.base.errorLine("siwa-server: warning: \(world.base.words.shown(warning))")
        }
    }
}
