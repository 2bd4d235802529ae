internal import CommandTable
internal import SignInWithApple

/// `siwa vault list`: what is in the vault.
struct VaultListCommand: Command {
    static let name = "vault list"
    static let abstract = "List what is in the vault."
    static let discussion = """
        A line a record, by client and user; no key is needed, and no token shows. The states: \
        active (it works, as far as is known), revoking (its revocation was begun), revoked, dead \
        (Apple refused to refresh it), consent_revoked and account_deleted (Apple notified of it). \
        CHECKED is when Apple last answered a refresh. --client-id lists one client only; \
        without it, all are listed, whatever the settings say.
        """
    static let examples = [
        Example("siwa vault list --state revoking", "Show revocations that were not ended."),
        Example("siwa vault list --json --client-id com.example.app", "One client, for a script."),
    ]
    static let parameters: [Parameter<Self>] =
        VaultFilterOptions.parameters(at: \.which) + [VaultArgument.option(\.vault)]
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var which = VaultFilterOptions()
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.checkPrinted(among: ["records"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let store = try session.vaultStore(.statement)
        let filter = try which.filter(session)
        var layout = layout(on: world.terminal)
        // Nothing is printed before it is certain that there is a vault.
        _ = try store.keyChecks()
        let output = try OutputLines(to: nil, in: world)
        var broken = BrokenRecords()
        try await store.forEachPage(of: filter) { page in
            for row in page.damaged { try broken.add(row.error) }
            try await output.write(layout.lines(of: page.records))
        }
        try await output.write(layout.end())
        try output.close()
        try broken.check("the others are listed")
    }

    private func layout(on terminal: Terminal) -> any ListLayout {
        guard global.json || global.print != nil else { return TableLayout(terminal: terminal) }
        return JSONLayout(isBare: global.print != nil)
    }
}

/// How records become lines, a page at a time.
private protocol ListLayout {
    mutating func lines(of page: [VaultRecord]) -> [UInt8]
    mutating func end() -> [UInt8]
}

/// For people. The widths are fixed, because who writes as he reads does not know the widest yet.
private struct TableLayout: ListLayout {
    private let terminal: Terminal
    private let table: TextTable
    private var isBegun = false

    init(terminal: Terminal) {
        self.terminal = terminal
        table = TextTable(widths: Self.widths, within: terminal.width)
    }

    mutating func lines(of page: [VaultRecord]) -> [UInt8] {
        let head = begin()
        return page.reduce(into: head) { lines, record in
            lines += line([
                record.user.clientID.rawValue, record.user.userID.rawValue, record.state.rawValue,
                record.storedAt.rfc3339, record.changedAt.rfc3339,
                record.checkedAt?.rfc3339 ?? "-",
            ])
        }
    }

    mutating func end() -> [UInt8] { begin() }

    private mutating func begin() -> [UInt8] {
        defer { isBegun = true }
        return isBegun
            ? []
            : line(["CLIENT", "USER", "STATE", "STORED", "CHANGED", "CHECKED"], .bold)
    }

    private func line(_ cells: [String], _ color: Terminal.Color? = nil) -> [UInt8] {
        let safe = cells.map { printable($0, limit: 300) }
        guard terminal.width != nil else {
            let padded = zip(safe, Self.widths.dropLast() + [0]).map { $0.padded(to: $1) }
            return Array((padded.joined(separator: "  ") + "\n").utf8)
        }
        let lines = table.lines(of: safe) { terminal.output.painted($1, color) }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// A client, one of Apple's user ids, the longest state, three times.
    private static let widths = [24, 44, 15, 20, 20, 20]
}

/// For machines: one object, a record a line.
private struct JSONLayout: ListLayout {
    /// Only the member `records`.
    let isBare: Bool
    private var isBegun = false

    init(isBare: Bool) { self.isBare = isBare }

    mutating func lines(of page: [VaultRecord]) -> [UInt8] {
        page.reduce(into: []) { lines, record in
            lines += begin() + Array("\n".utf8) + JSON.object(record.openMembers()).bytes
        }
    }

    mutating func end() -> [UInt8] {
        let isEmpty = !isBegun
        return (isEmpty ? begin() : Array("\n".utf8)) + Array((isBare ? "]\n" : "]}\n").utf8)
    }

    /// What stands before the next record.
    private mutating func begin() -> [UInt8] {
        defer { isBegun = true }
        return Array((isBegun ? "," : isBare ? "[" : "{\"records\":[").utf8)
    }
}
