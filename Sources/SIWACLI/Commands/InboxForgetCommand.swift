internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// `siwa inbox forget`: erases a user's data from the inbox.
struct InboxForgetCommand: Command {
    static let name = "inbox forget"
    static let abstract = "Erase the contents of a user's events."
    static let discussion = """
        Erases the contents of all events about the user, e-mail addresses among them, and cancels \
        their deliveries. Their ids, types and times remain. The history of the vault keeps user \
        id and fingerprints as proof, until 'siwa vault history prune' deletes it.
        """
    static let examples = [
        Example("siwa inbox forget 001234.0a1b2c.0001", "Erase a user's e-mail addresses.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("USER", \.$user, help: "The user."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var user: String
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["erased", "user_id"])
        let session = try Session(global, vault: vault, in: world)
        let userID = try session.userID(user)
        let store = try session.serverStore()
        let erased = try world.ending.completing { try store.forget(userID) }
        try session.report(
            Report(
                ["erased": .integer(erased), "user_id": .string(user)],
                of: Deed(
                    "\(erased) events of the user were erased",
                    hint: "'siwa inbox list --user' shows what is left")))
    }
}
