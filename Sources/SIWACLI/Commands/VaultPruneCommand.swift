internal import CommandTable
internal import SignInWithApple

/// `siwa vault prune`: remove tokens that ended long ago.
struct VaultPruneCommand: Command {
    static let name = "vault prune"
    static let abstract = "Remove tokens that have been revoked or dead for long."
    static let discussion = """
        Removes the tokens whose state has been revoked or dead for longer than --older-than. The \
        history stays, with an entry for each. --client-id removes tokens of one client only. No \
        key is needed.
        """
    static let examples = [
        Example("siwa vault prune --older-than 90d", "Keep ended tokens for 90 days.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "older-than", \.$age, value: "DURATION",
                help: "Remove tokens that ended longer ago than this."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var age: DurationText
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.checkPrinted(among: ["pruned"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let client = try VaultFilterOptions().filter(session).clientID
        let vault = KeylessVault(try session.vaultStore(.statement), by: world.actor)
        _ = try vault.store.keyChecks()
        let now = world.clocks.now()
        var (count, next): (Int, VaultRowKey?) = (0, nil)
        repeat {
            let page = try vault.prune(
                before: now - age.duration, of: client, after: next, limit: vaultPageSize, at: now)
            count += page.count
            next = page.next
        } while next != nil && world.ending.signal == nil
        try session.report(
            Report(
                ["pruned": .integer(count)],
                of: Deed(
                    "\(count) tokens were removed from the vault",
                    hint: "running it again is harmless")))
    }
}
