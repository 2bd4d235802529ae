internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa vault prune`: removes tokens that have been revoked or dead for a long time.
struct VaultPruneCommand: Command {
    static let name = "vault prune"
    static let abstract = "Remove tokens that were revoked or refused long ago."
    static let discussion = """
        Removes the tokens that have been in state revoked or dead for longer than --older-than. \
        The history remains, with an entry for each. --client-id removes tokens of one client \
        only. No key is needed.
        """
    static let examples = [
        Example("siwa vault prune --older-than 90d", "Keep revoked and refused tokens for 90 days.")
    ]
    static let parameters: [Parameter<Self>] =
        PruneOptions.parameters(
            at: \.prune, help: "Remove tokens whose state changed longer ago than this.")
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var prune = PruneOptions()

    func run(in world: World) async throws {
        let session = try prune.session(global, in: world)
        let client = try VaultFilterOptions().filter(session).clientID
        let vault = KeylessVault(try session.vaultStore(.statement), by: world.actor)
        _ = try vault.store.keyChecks()
        var next: VaultRowKey?
        try prune.run(session, "tokens were removed from the vault") { _ in
            let filter = VaultFilter(clientID: client, states: [.revoked, .dead])
            let count = try vault.store.expectedRecords(filter)
            return { count }
        } _: { limit in
            let page = try vault.prune(
                before: limit, of: client, after: next, limit: vaultPageSize,
                at: world.clocks.now())
            next = page.next
            return (page.count, page.searched, next == nil)
        }
    }
}
