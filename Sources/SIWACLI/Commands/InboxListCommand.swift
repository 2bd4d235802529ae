internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
internal import SIWAVaultRecords

/// `siwa inbox list`: the events that siwa-server received.
struct InboxListCommand: Command {
    static let name = "inbox list"
    static let abstract = "List the events that siwa-server received."
    static let discussion = """
        Prints one line for each event, newest first. The states: pending (it is to be delivered, \
        at NEXT), done (the application accepted it), dead (it could not be delivered for seven \
        days), discarded, none (there was no address to deliver it to), unverified (Apple's keys \
        cannot be fetched at the moment) and rejected (they could not be fetched for seven days). \
        No key is needed.
        """
    static let examples = [
        Example("siwa inbox list --state dead", "Show events that could not be delivered."),
        Example("siwa inbox list --user 001234.0a1b2c.0001 --json", "One user's, for a script."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "state", \.states, value: "STATE",
                help: "Only events in this state; all unless set."),
            .option("type", \.type, value: "TYPE", help: "Only events of this type."),
            .option("user", \.user, value: "USER", help: "Only events about this user."),
            .option(
                "since", \.since, value: "TIME",
                help: "Only events that were received from this moment on."),
            .option("limit", \.limit, value: "NUMBER", help: "The most events to list."),
            VaultArgument.option(\.vault), WideFlag.flag(\.isWide),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var states: [InboxState] = []
    var type: String?
    var user: String?
    var since: DateArgument?
    var limit = CountArgument.hundred
    var vault: VaultArgument?
    var isWide = false

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["events"])
        let session = try Session(global, vault: vault, in: world)
        try session.nameVault()
        let filter = InboxFilter(
            states: states, type: type, userID: try user.map(session.userID), since: since?.date)
        let store = try session.serverStore(.statement)
        var layout = global.output.listLayout(
            "events", Self.columns, isWide: isWide, on: world.terminal)
        var (position, left): (Int?, Int) = (nil, limit.count)
        var page = try store.inbox(filter, before: nil, limit: min(left, vaultPageSize))
        let output = try StreamingOutput(to: nil, in: world)
        var broken = BrokenRecords()
        while let next = page.next {
            for row in page.damaged { try broken.add(row) }
            try await output.write(layout.lines(of: page.entries.map(\.row)))
            (position, left) = (next, left - page.entries.count - page.damaged.count)
            if left <= 0 { break }
            page = try store.inbox(filter, before: position, limit: min(left, vaultPageSize))
        }
        try await output.write(layout.end())
        try output.close()
        try broken.check("the others are listed")
    }

    private static let columns: [ListColumn] = [
        .time("RECEIVED", rank: 5), ListColumn("STATE", 10, rank: 2),
        ListColumn("TYPE", 16, .text, rank: 3), .user(rank: 4), ListColumn("TRIES", 5, rank: 6),
        .time("NEXT", rank: 7), ListColumn("JTI", 36, .id, rank: 1),
    ]
}

extension InboxState: ParameterValue {}

extension InboxEntry {
    fileprivate var row: ListRow {
        ListRow(
            cells: [
                receivedAt.rfc3339, state.rawValue, type, user.userID.rawValue, "\(attempts)",
                nextAttemptAt?.rfc3339 ?? "-", id.rawValue,
            ], members: members)
    }
}
