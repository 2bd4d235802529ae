internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// `siwa vault list`: the tokens in the vault.
struct VaultListCommand: Command {
    static let name = "vault list"
    static let abstract = "List the tokens in the vault."
    static let discussion = """
        Prints one line for each token, by client, user and fingerprint (TOKEN). No key is needed, \
        and no token is shown. The states: active (works, as far as is known), revoking (the \
        revocation was started), revoked, dead (Apple refused to refresh it), consent_revoked and \
        account_deleted (Apple sent a notification). CHECKED is the time of the last refresh. \
        --client-id limits the list to one client; client_id in the settings does not.
        """
    static let examples = [
        Example("siwa vault list --state revoking", "Show revocations that were not completed."),
        Example("siwa vault list --json --client-id com.example.app", "One client, for a script."),
    ]
    static let parameters: [Parameter<Self>] =
        VaultFilterOptions.parameters(at: \.which) + [
            VaultArgument.option(\.vault), WideFlag.flag(\.isWide),
        ]
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var which = VaultFilterOptions()
    var vault: VaultArgument?
    var isWide = false

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["records"])
        let session = try Session(global, vault: vault, in: world)
        try session.nameVault()
        let store = try session.vaultStore(.statement)
        let filter = try which.filter(session)
        var layout = global.output.listLayout(
            "records", Self.columns, isWide: isWide, on: world.terminal)
        // Checked before the first line is printed: the vault exists.
        _ = try store.keyChecks()
        session.warnOfMove(store)
        let output = try StreamingOutput(to: nil, in: world)
        var broken = BrokenRecords()
        let progress = try RecordProgress(session, "records listed", output: .standard) {
            let count = try store.expectedRecords(filter)
            return { count }
        }
        try await store.forEachPage(of: filter) { page in
            for row in page.damaged { try broken.add(row.error) }
            try await output.write(layout.lines(of: page.records.map(\.row)))
            progress.add(page.records.count)
        }
        try await output.write(layout.end())
        try output.close()
        progress.end()
        try broken.check("the others are listed")
    }

    private static let columns: [ListColumn] = [
        .client(rank: 4), .user(rank: 1), .token(rank: 2), ListColumn("STATE", 15, rank: 3),
        .time("STORED", rank: 7), .time("CHANGED", rank: 5), .time("CHECKED", rank: 6),
    ]
}

extension VaultRecord {
    fileprivate var row: ListRow {
        ListRow(
            cells: [
                user.clientID.rawValue, user.userID.rawValue, id.fingerprint.rawValue,
                state.rawValue, storedAt.rfc3339, changedAt.rfc3339, checkedAt?.rfc3339 ?? "-",
            ], members: openMembers)
    }
}
