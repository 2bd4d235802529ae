internal import CommandTable
internal import SignInWithApple

/// `siwa migrate export`: the old team's half of an app transfer.
struct MigrateExportCommand: Command {
    static let name = "migrate export"
    static let abstract =
        "Get transfer identifiers for the users of an app that moves to another team."
    static let discussion = """
        The settings are the old team's. Reads an item a line: a bare user id (the sub of identity \
        tokens) or JSON {"user_id"}. Writes a line of JSON an item as it finishes: \
        {"line", "user_id", "transfer_id", "status", "exit_code", …} with the status done, refused \
        (Apple said no to this user: most have left the app), failed (temporary, after its \
        retries) or invalid (the line is no item). These lines are the input of \
        'siwa migrate import'.

        Works before the transfer and for 60 days after it was accepted; an identifier stays the \
        same however often it is asked for. When none of the first 100 users gets through, \
        something is wrong that is not about them, and the run stops without recording them. A \
        run that was stopped goes on with --resume.

        Have the other team read you its Team ID: Apple makes identifiers for any team, and \
        whether it was the right one shows only when they are imported.
        """
    static let examples = [
        Example(
            "siwa migrate export --to-team B1B2C3D4E5 --input users.txt --output export.jsonl",
            "Get an identifier for every user of a file."),
        Example(
            """
            siwa migrate export --to-team B1B2C3D4E5 --input users.txt --output export.jsonl \
            --resume
            """, "Go on after an interruption."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "to-team", \.$team, value: "ID",
                help: "The Team ID of the team that gets the app.")
        ] + BatchOptions.parameters(at: \.batch) + MigrationOptions.parameters(at: \.migration)
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var migration = MigrationOptions()
    @Required var team: TeamArgument

    func run(in world: World) async throws {
        try await Migration(global, batch, in: world) { client in
            // The mistake of a public library: identifiers for 700,000 users, all of no use.
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
