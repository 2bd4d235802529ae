internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// `siwa revocations list`: the revocations that siwa-server was asked for.
struct RevocationsListCommand: Command {
    static let name = "revocations list"
    static let abstract = "List what siwa-server was asked to revoke."
    static let discussion = """
        Prints one line for each request, newest first. The states: pending (it is tried again, at \
        NEXT), revoked, unknown (Apple refused the code, or its answer was lost), dead (it was \
        tried for 30 days). No key is needed, and no token is shown.
        """
    static let examples = [
        Example("siwa revocations list --state pending", "Show what waits for Apple.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "state", \.states, value: "STATE",
                help: "Only requests in this state; all unless set."),
            .option("limit", \.limit, value: "NUMBER", help: "The most requests to list."),
            VaultArgument.option(\.vault), WideFlag.flag(\.isWide),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var states: [RevocationJob.State] = []
    var limit = CountArgument.hundred
    var vault: VaultArgument?
    var isWide = false

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["revocations"])
        let session = try Session(global, vault: vault, in: world)
        let page = try session.serverStore().revocations(states, limit: limit.count)
        var layout = global.output.listLayout(
            "revocations", Self.columns, isWide: isWide, on: world.terminal)
        let output = try StreamingOutput(to: nil, in: world)
        try await output.write(layout.lines(of: page.revocations.map(\.row)) + layout.end())
        try output.close()
        var broken = BrokenRecords()
        for row in page.damaged { try broken.add(row) }
        try broken.check("the others are listed")
    }

    private static let columns: [ListColumn] = [
        .time("REQUESTED", rank: 6), ListColumn("STATE", 7, rank: 2), .user(rank: 3),
        ListColumn("TOKENS", 6, rank: 8), ListColumn("TRIES", 5, rank: 5), .time("NEXT", rank: 4),
        ListColumn("ID", 32, .id, rank: 1), ListColumn("ERROR", 40, .detail, rank: 7),
    ]
}

extension RevocationJob.State: ParameterValue {}

extension RevocationStatus {
    fileprivate var row: ListRow {
        ListRow(
            cells: [
                request.requestedAt.rfc3339, state.rawValue, request.userID?.rawValue ?? "-",
                "\(jobs.count)", "\(attempts)", nextAttemptAt?.rfc3339 ?? "-", request.id,
                (state == .revoked ? nil : jobs.compactMap(\.lastError).last?.description) ?? "-",
            ], members: members)
    }
}
