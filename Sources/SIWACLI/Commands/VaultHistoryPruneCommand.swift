internal import CommandTable
internal import SignInWithApple

/// `siwa vault history prune`: limit the age of the history.
struct VaultHistoryPruneCommand: Command {
    static let name = "vault history prune"
    static let abstract = "Delete old entries of the vault's history."
    static let discussion = """
        Deletes the entries that are older than --older-than, of all users and clients. The tokens \
        and their states stay. Afterwards nothing shows what happened before.
        """
    static let examples = [
        Example("siwa vault history prune --older-than 1095d", "Keep three years.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "older-than", \.$age, value: "DURATION", help: "Delete entries older than this."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var age: DurationText
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.checkPrinted(among: ["pruned"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let store = try session.vaultStore(.statement)
        let moment = world.clocks.now() - age.duration
        var count = 0
        while world.ending.signal == nil,
            case let deleted = try store.pruneHistory(before: moment, limit: vaultPageSize),
            deleted > 0
        {
            count += deleted
        }
        try session.report(
            Report(
                ["pruned": .integer(count)],
                of: Deed(
                    "\(count) entries were deleted from the history",
                    hint: "running it again is harmless")))
    }
}
