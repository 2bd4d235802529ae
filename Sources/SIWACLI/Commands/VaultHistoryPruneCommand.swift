internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa vault history prune`: deletes old entries of the history.
struct VaultHistoryPruneCommand: Command {
    static let name = "vault history prune"
    static let abstract = "Delete old entries of the vault's history."
    static let discussion = """
        Deletes the entries older than --older-than, of all users and clients. Tokens and their \
        states remain. Deleted entries cannot be restored.
        """
    static let examples = [
        Example("siwa vault history prune --older-than 1095d", "Keep three years.")
    ]
    static let parameters: [Parameter<Self>] =
        PruneOptions.parameters(at: \.prune, help: "Delete entries older than this.")
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var prune = PruneOptions()

    func run(in world: World) async throws {
        let session = try prune.session(global, in: world)
        let store = try session.vaultStore(.statement)
        try prune.run(session, "entries were deleted from the history") { limit in
            let count = try store.historyCount(since: nil, until: limit)
            return { count }
        } _: { limit in
            let count = try store.pruneHistory(before: limit, limit: vaultPageSize)
            return (count, count, count == 0)
        }
    }
}
