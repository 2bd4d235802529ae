internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa migrate import`: imports users, as the team that received an app.
struct MigrateImportCommand: Command {
    static let name = "migrate import"
    static let abstract = "Map transferred users to their new user ids."
    static let discussion = """
        The settings are those of the new team, with its own key. Each input line is one item: a \
        transfer identifier, or JSON {"transfer_id"}, as 'siwa migrate export' writes it. Each \
        output line is the result of one item, written when it finishes: {"line", "transfer_id", \
        "user_id", "old_user_id"?, "email"?, "is_private_email"?, "status", "exit_code", …}. \
        user_id is the user's id in the new team, old_user_id the user_id of the input line. email \
        is there for users of Apple's relay, and replaces the old address.

        Import works for 60 days after the transfer was accepted; repeated requests return the same \
        result. If Apple refuses all of the first 100 users, the users are not the reason, and the \
        run stops without recording them. To continue a run, add --resume.
        """
    static let examples = [
        Example(
            "siwa migrate import --profile new --input export.jsonl --output import.jsonl",
            "Get the new user id of every exported user."),
        Example(
            """
            siwa migrate import --input export.jsonl --output import.jsonl --resume \
            --deadline 2026-11-01
            """, "Continue, and show how many days are left."),
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
