internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// `siwa vault remap`: changes the user ids of stored tokens to those of an app's new team.
struct VaultRemapCommand: Command {
    static let name = "vault remap"
    static let abstract = "Move tokens to the user ids that users have after an app transfer."
    static let discussion = """
        FILE is the output of 'siwa migrate import': the tokens of each old_user_id move to its \
        user_id. The client stays the same; it is the one of the settings: other apps of the old \
        team keep their user ids. If other clients hold tokens of the old ids, they are named. \
        Lines whose status is not done, or without an old_user_id, are skipped.

        Users whose tokens would meet under one id are refused, and nothing is moved: two old ids \
        with the same new one, an old id with two new ones, and a new id that is another user's old \
        one, such as two ids that are swapped.

        Users are moved in groups; a run that was stopped can be run again from the start. \
        Whether Apple accepts the old tokens for the new team is not known: check with 'siwa batch \
        refresh --vault'.
        """
    static let examples = [
        Example("siwa vault remap imported.jsonl --dry-run", "Count what would move."),
        Example("siwa vault remap imported.jsonl", "Move the tokens."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand(
                "FILE", \.input, help: "Read lines from FILE; - reads standard input.",
                completion: .file),
            .flag("dry-run", \.isDryRun, help: "Count what would move; change nothing."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var input = InputArgument.standard
    var isDryRun = false
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: [
            "moved", "absent", "skipped", "invalid", "other_clients",
        ])
        let session = try Session(global, vault: vault, in: world)
        var remapper = VaultRemapper(
            try session.vault(.statement), keys: session.vaultKeys, try session.clientID(),
            isDryRun: isDryRun, in: world)
        do {
            let input = try StreamingLines(input.path, in: world)
            let progress = RecordProgress(session, "lines read", of: .lines) {
                { input.source.expectedLines }
            }
            while let lines = try await input.next() {
                for line in lines { try remapper.take(line) }
                progress.add(lines.count)
            }
            progress.end()
            let total = remapper.staged
            let moving = RecordProgress(session, "users compared with the vault") { { total } }
            try remapper.move(moving)
            moving.end()
        } catch {
            let moved = remapper.result.moved
            if moved > 0, !isDryRun {
                session.console.note("\(moved) tokens were moved before it stopped")
            }
            throw error
        }
        try report(remapper, session)
        let result = remapper.result
        var broken = BrokenRecords()
        for error in result.broken { try broken.add(error) }
        try broken.check("the other tokens were moved")
        try remapper.invalid.check(
            "used", remedy: "fix the lines, and run it again: what was moved stays moved")
    }

    private func report(_ remapper: VaultRemapper, _ session: Session) throws {
        let result = remapper.result
        let otherClients = remapper.otherClients
        if !otherClients.isEmpty {
            let names = otherClients.map(\.rawValue).joined(separator: ", ")
            session.console.warn(
                "other clients hold tokens of the old user ids: \(names); if they were transferred "
                    + "too, repeat the command with --client-id")
        }
        let members: [JSON.Member] = [
            .init("moved", .integer(result.moved)), .init("absent", .integer(result.absent)),
            .init("skipped", .integer(remapper.skipped)),
            .init("invalid", .integer(remapper.invalid.count)),
        ]
        try session.report(
            Report(
                .object(members + .otherClients(otherClients)),
                of: isDryRun
                    ? nil
                    : Deed(
                        "\(result.moved) tokens were moved", hint: "running it again is harmless")))
    }
}

/// Applies the lines of a remapping, one group per transaction.
private struct VaultRemapper {
    private(set) var result = VaultRemapped()
    /// The number of lines about users without a new id.
    private(set) var skipped = 0
    private(set) var invalid = InvalidLines()

    private var vault: Vault
    private let keys: () throws -> VaultKeyRing
    private let clientID: ClientID
    private let isDryRun: Bool
    private let now: () -> NumericDate
    private let ending: Ending
    private var moves: StagedMoves
    /// The other clients of the vault; nil until the first group.
    private var others: [ClientID]?
    private var holders: Set<ClientID> = []

    init(
        _ vault: Vault, keys: @escaping () throws -> VaultKeyRing, _ clientID: ClientID,
        isDryRun: Bool, in world: World
    ) {
        (self.vault, self.keys, self.clientID) = (vault, keys, clientID)
        (self.isDryRun, now, ending) = (isDryRun, world.clocks.now, world.ending)
        moves = StagedMoves(world.streams.sort)
    }

    /// The number of moves that were read.
    var staged: Int { moves.count }

    /// The other clients with tokens of the old user ids, in their order.
    var otherClients: [ClientID] { (others ?? []).filter(holders.contains) }

    mutating func take(_ line: InputLine) throws {
        if let bytes = line.bytes, bytes.isBlank { return }
        var staging: VaultRemap?
        do throws(InvalidLine) {
            guard let bytes = line.bytes else { throw .tooLong }
            if let remap = try VaultRemap(importResult: bytes, of: clientID) {
                staging = remap
            } else {
                skipped += 1
            }
        } catch {
            invalid.add(line.number, error)
        }
        if let staging { try moves.add(staging) }
        try ending.checkSignal()
    }

    /// Moves the tokens of all users, unless some would meet.
    mutating func move(_ progress: RecordProgress) throws {
        try moves.checkConflicts()
        let entries = try moves.inOrder()
        while case let group = try entries.next(vaultPageSize, of: clientID), !group.isEmpty {
            try findHolders(group)
            let (moment, isDryRun) = (now(), isDryRun)
            result += try ending.completing {
                try vault.renewing(keys) { vault throws(StoreError) in
                    try vault.remap(group, isDryRun: isDryRun, at: moment)
                }
            }
            progress.add(group.count)
            try ending.checkSignal()
        }
    }

    /// Checks whether other clients have tokens of the group's users.
    private mutating func findHolders(_ group: [VaultRemap]) throws {
        let others = try others ?? vault.store.clients().filter { $0 != clientID }
        self.others = others
        let unknown = others.filter { !holders.contains($0) }
        guard !unknown.isEmpty else { return }
        let users = unknown.flatMap { client in group.map { VaultUser(client, $0.user.userID) } }
        holders.formUnion(try vault.store.records(of: users).records.map(\.user.clientID))
    }
}
