internal import CommandTable
internal import LocalFiles
internal import SignInWithApple

/// `siwa vault remap`: give stored tokens the user ids of an app's new team.
struct VaultRemapCommand: Command {
    static let name = "vault remap"
    static let abstract = "Move tokens to the user ids that users have after an app transfer."
    static let discussion = """
        FILE is the output of 'siwa migrate import': the tokens of each old_user_id move to its \
        user_id. The client stays the same; it is the one of the settings. Lines whose status is \
        not done, or without an old_user_id, are skipped.

        Lines are applied in groups; a run that was stopped can be run again from the start. \
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
        try global.checkPrinted(among: ["moved", "absent", "skipped", "invalid"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        var remapper = VaultRemapper(
            try session.vault(.statement), keys: session.vaultKeys, try session.clientID(),
            isDryRun: isDryRun, now: world.clocks.now)
        try await world.forEachLines(of: input.path) { lines in
            for line in lines { try remapper.take(line) }
        }
        try remapper.flush()
        let result = remapper.result
        try session.report(
            Report(
                [
                    "moved": .integer(result.moved), "absent": .integer(result.absent),
                    "skipped": .integer(remapper.skipped),
                    "invalid": .integer(remapper.invalid.count),
                ],
                of: isDryRun
                    ? nil
                    : Deed(
                        "\(result.moved) tokens were moved", hint: "running it again is harmless")))
        var broken = BrokenRecords()
        for error in result.broken { try broken.add(error) }
        try broken.check("the other tokens were moved")
        try remapper.invalid.check(
            "used", remedy: "fix the lines, and run it again: what was moved stays moved")
    }
}

/// Applies the lines of a remapping, a group of them in each transaction.
private struct VaultRemapper {
    private(set) var result = VaultRemapped()
    /// Lines about users who got no new id.
    private(set) var skipped = 0
    private(set) var invalid = InvalidLines()

    private var vault: Vault
    private let keys: () throws -> VaultKeyRing
    private let clientID: ClientID
    private let isDryRun: Bool
    private let now: () -> NumericDate
    private var group: [VaultRemap] = []

    init(
        _ vault: Vault, keys: @escaping () throws -> VaultKeyRing, _ clientID: ClientID,
        isDryRun: Bool, now: @escaping () -> NumericDate
    ) {
        (self.vault, self.keys, self.clientID) = (vault, keys, clientID)
        (self.isDryRun, self.now) = (isDryRun, now)
    }

    mutating func take(_ line: InputLine) throws {
        if let bytes = line.bytes, bytes.isBlank { return }
        do throws(InvalidLine) {
            guard let bytes = line.bytes else { throw .tooLong }
            if let remap = try VaultRemap(importResult: bytes, of: clientID) {
                group.append(remap)
            } else {
                skipped += 1
            }
        } catch {
            invalid.add(line.number, error)
        }
        if group.count == vaultPageSize { try flush() }
    }

    mutating func flush() throws {
        let (remaps, moment, isDryRun) = (group, now(), isDryRun)
        result += try vault.renewing(keys) { vault throws(VaultError) in
            try vault.remap(remaps, isDryRun: isDryRun, at: moment)
        }
        group = []
    }
}
