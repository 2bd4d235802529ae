internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa migrate export`: exports users, as the team that transfers an app.
struct MigrateExportCommand: Command {
    static let name = "migrate export"
    static let abstract =
        "Get transfer identifiers for the users of an app that is transferred."
    static let discussion = """
        The settings are those of the old team. Each input line is one item: a user id (the sub of \
        identity tokens), or JSON {"user_id"}. Each output line is the result of one item, written \
        when it finishes: {"line", "user_id", "transfer_id", "status", "exit_code", …} with the \
        status done, refused (by Apple; most such users have left the app), failed (temporarily, \
        after all retries) or invalid (the line is not an item). The output is the input of 'siwa \
        migrate import'.

        Export works before the transfer and until 60 days after it was accepted; repeated requests \
        return the same identifier. If Apple refuses all of the first 100 users, the users are not \
        the reason, and the run stops without recording them. To continue a run, add --resume.

        Verify the Team ID with the other team: Apple issues identifiers for any team, and a wrong \
        one is noticed only on import.
        """
    static let examples = [
        Example(
            "siwa migrate export --to-team B1B2C3D4E5 --input users.txt --output export.jsonl",
            "Get an identifier for every user of a file."),
        Example(
            """
            siwa migrate export --to-team B1B2C3D4E5 --input users.txt --output export.jsonl \
            --resume
            """, "Continue after an interruption."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "to-team", \.$team, value: "ID",
                help: "The Team ID of the new team of the app.")
        ] + BatchOptions.parameters(at: \.batch) + MigrationOptions.parameters(at: \.migration)
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var migration = MigrationOptions()
    @Required var team: TeamArgument

    func run(in world: World) async throws {
        try await Migration(global, batch, in: world) { client in
            // A known mistake: a public library requested 700,000 useless identifiers in this way.
            guard team.teamID.rawValue.uppercased() != client.teamID.rawValue.uppercased() else {
                throw UsageError.Problem.misuse(
                    "--to-team is the team that the app belongs to, \(client.teamID)",
                    hint: "name the team that gets it, and keep the old team's settings")
            }
            return .export(to: team.teamID)
        }.run(migration)
    }
}

/// A Team ID on the command line.
struct TeamArgument: ParameterValue, Hashable {
    let teamID: TeamID

    init?(argument: String) {
        guard let teamID = try? TeamID(validating: argument) else { return nil }
        self.teamID = teamID
    }

    static var expectation: String { "a Team ID, ten letters and digits" }

    var argumentDescription: String { teamID.rawValue }
}
