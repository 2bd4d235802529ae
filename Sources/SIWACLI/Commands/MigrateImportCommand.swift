internal import CommandTable
internal import SignInWithApple

/// `siwa migrate import`: the new team's half of an app transfer.
struct MigrateImportCommand: Command {
    static let name = "migrate import"
    static let abstract = "Learn who the users of an app are that came from another team."
    static let discussion = """
        The settings are the new team's, with a key of its own. Reads an item a line: a bare \
        transfer identifier, or JSON {"transfer_id"} as 'siwa migrate export' writes it. Writes a \
        line of JSON an item as it finishes: {"line", "transfer_id", "user_id", "old_user_id"?, \
        "email"?, "is_private_email"?, "status", "exit_code", …}. user_id is the user's name with \
        the new team, old_user_id what the input line had as user_id; the address is there for \
        users of Apple's relay, and replaces the old one.

        Works once the transfer is accepted, for 60 days; the answers stay the same however often \
        they are asked for. When none of the first 100 users gets through, something is wrong \
        that is not about them, and the run stops without recording them. A run that was stopped \
        goes on with --resume.
        """
    static let examples = [
        Example(
            "siwa migrate import --profile new --input export.jsonl --output import.jsonl",
            "Get the new name of every user that was exported."),
        Example(
            """
            siwa migrate import --input export.jsonl --output import.jsonl --resume \
            --deadline 2026-11-01
            """, "Go on, and see how many days are left."),
    ]
    static let parameters: [Parameter<Self>] =
        BatchOptions.parameters(at: \.batch) + MigrationOptions.parameters(at: \.migration)
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var batch = BatchOptions()
    var migration = MigrationOptions()

    func run(in world: World) async throws {
        try await Migration(global, batch, in: world) { _ in .admission }.run(migration)
    }
}
