internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
package import SIWAVaultRecords

/// `siwa vault history`: shows the changes of stored tokens, with evidence.
struct VaultHistoryCommand: Command {
    static let name = "vault history"
    static let abstract = "Show the changes of stored tokens, with their evidence."
    static let discussion = """
        Lists every change of a token's state, oldest first: stored, revoking, revoked, dead, \
        active, consent_revoked, account_deleted, removed, remapped (an app transfer changed the \
        user id), pruned. siwa adds entries and never changes them; they remain when tokens are \
        removed. No key is needed.

        USER limits the list to one user, including the user ids before and after an app transfer; \
        --client-id limits it to one client. --since lists the entries of all users from that time \
        on. EVIDENCE, STATUS and REQUEST show how a state is known: by which refresh, with which \
        HTTP status, and under which request id of Apple.
        """
    static let examples = [
        Example(
            "siwa vault history 001234.0a1b2c.0001 --json",
            "Show when a user's tokens were revoked, with evidence."),
        Example(
            "siwa vault history --since 2026-11-01 --until 2026-12-01 --type revoked",
            "List the revocations of a month."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("USER", \.user, help: "The user."),
            .option(
                "since", \.since, value: "TIME", help: "Only entries from this time on."),
            .option("until", \.until, value: "TIME", help: "Only entries before this time."),
            .option("type", \.types, value: "EVENT", help: "Only entries of this event."),
            VaultArgument.option(\.vault), WideFlag.flag(\.isWide),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var user: String?
    var since: DateArgument?
    var until: DateArgument?
    var types: [VaultHistoryEvent] = []
    var vault: VaultArgument?
    var isWide = false

    func run(in world: World) async throws {
        try checkCombination()
        try global.output.checkPrinted(among: ["history"])
        let session = try Session(global, vault: vault, in: world)
        let filter = try filter(session)
        let store = try session.vaultStore(.statement)
        var layout = global.output.listLayout(
            "history", Self.columns, isWide: isWide, on: world.terminal)
        _ = try store.keyChecks()
        let output = try StreamingOutput(to: nil, in: world)
        var broken = BrokenRecords()
        var isEmpty = true
        let progress = try RecordProgress(session, "entries listed", output: .standard) {
            guard user == nil else { return nil }
            let count = try store.historyCount(since: filter.since, until: filter.until)
            return { count }
        }
        try await store.forEachHistoryPage(of: filter) { page in
            for row in page.damaged { try broken.add(row) }
            isEmpty = isEmpty && page.entries.isEmpty
            try await output.write(layout.lines(of: page.entries.map(\.row)))
            progress.add(page.entries.count)
        }
        try await output.write(layout.end())
        try output.close()
        progress.end()
        if isEmpty { session.console.note("the history has no such entry") }
        try broken.check("the other entries are shown")
    }

    private func checkCombination() throws(UsageError.Problem) {
        guard user != nil || since != nil else {
            throw UsageError.Problem.misuse(
                "vault history needs a USER or --since", hint: "give a user id, or --since TIME")
        }
    }

    private func filter(_ session: Session) throws -> VaultHistoryFilter {
        let clientID: ClientID? =
            global.clientID == nil ? nil : try session.settings.identifier(.clientID)
        return VaultHistoryFilter(
            userID: try user.map(session.userID), clientID: clientID, since: since?.date,
            until: until?.date, events: types)
    }

    private static let columns: [ListColumn] = [
        .time("AT", rank: 1), ListColumn("EVENT", 15, .text, rank: 2), .client(rank: 7),
        .user(rank: 4), .token(rank: 3), ListColumn("EVIDENCE", 30, rank: 5),
        ListColumn("STATUS", 6, rank: 6), ListColumn("REQUEST", 36, .text, rank: 8),
        ListColumn("COMMAND", 16, .text, rank: 9), ListColumn("HOST", 16, .text, rank: 10),
    ]
}

extension VaultHistoryEvent: ParameterValue {}

extension Session {
    /// A user id, of any client.
    func userID(_ text: String) throws -> UserID {
        do {
            return try UserID(validating: text)
        } catch {
            throw UsageError.Problem.misuse(
                "the user '\(error.text)' \(error.fault)",
                hint: "give the 'sub' of an identity token, which siwa calls user_id")
        }
    }
}

extension VaultStore {
    /// Reads the history in its order, a few entries in memory at a time.
    fileprivate func forEachHistoryPage(
        of filter: VaultHistoryFilter, _ body: (VaultHistoryPage) async throws -> Void
    ) async throws {
        var last: VaultHistoryPosition?
        while true {
            let page = try history(filter, after: last, limit: vaultPageSize)
            guard let next = page.next else { return }
            try await body(page)
            last = next
        }
    }
}

extension VaultHistoryEntry {
    fileprivate var row: ListRow {
        let what = newUserID.map { "\(event.rawValue) to \($0)" } ?? event.rawValue
        return ListRow(
            cells: [
                at.rfc3339, what, user.clientID.rawValue, user.userID.rawValue,
                fingerprint.rawValue, details.evidence?.rawValue ?? "-",
                details.httpStatus.map { "\($0)" } ?? "-", details.appleRequestID ?? "-",
                actor.command, actor.host,
            ], members: members)
    }
}
