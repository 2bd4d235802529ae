internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// `siwa vault export`: writes the records of a vault as JSON lines.
struct VaultExportCommand: Command {
    static let name = "vault export"
    static let abstract = "Write the records of the vault as JSON lines."
    static let discussion = """
        Each line is one token. With --reveal the lines contain the tokens themselves, so that \
        'siwa vault import' can read them: use it to move a vault from a file to a server. The \
        output is then as secret as the tokens. Without --reveal no key is needed.

        Tokens that cannot be decrypted, and damaged rows, are skipped and reported at the end; the \
        exit code is then 3.
        """
    static let examples = [
        Example("siwa vault export --state active", "Print the active records, without tokens."),
        Example(
            "siwa vault export --reveal | siwa vault import --vault postgresql://db/siwa",
            "Move a vault."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .flag("reveal", \.isRevealing, help: "Write the tokens themselves."),
            .option(
                "output", \.output, value: "FILE",
                help: "Write to FILE, which must be empty; - is standard output.",
                completion: .file),
        ] + VaultFilterOptions.parameters(at: \.which) + [VaultArgument.option(\.vault)]
        + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var isRevealing = false
    var output = OutputArgument.standard
    var which = VaultFilterOptions()
    var vault: VaultArgument?

    func run(in world: World) async throws {
        do {
            try await export(in: world)
        } catch let error as FileError where isRevealing && error.isClosedPipe {
            throw UndeliveredResult(
                error,
                after: Deed(
                    "the tokens were exported in part",
                    hint: "export again: what was written is not complete"))
        }
    }

    private func export(in world: World) async throws {
        let session = try Session(global, vault: vault, in: world)
        try session.examineOutput(output.path)
        try session.checkNothingIsPicked()
        let filter = try which.filter(session)
        var vault = isRevealing ? try session.vault(.statement) : nil
        let store = try vault?.store ?? session.vaultStore(.statement)
        _ = try store.keyChecks()
        let lines = try StreamingOutput(to: output.path, in: world)
        var broken = BrokenRecords()
        let progress = try RecordProgress(
            session, "records written", output: output.path == nil ? .standard : .file
        ) {
            let count = try store.expectedRecords(filter)
            return { count }
        }
        try await store.forEachPage(of: filter) { page in
            for row in page.damaged { try broken.add(row.error) }
            vault = vault?.renewed(for: page.records, session.vaultKeys)
            var text: [UInt8] = []
            for record in page.records {
                var token: RefreshToken?
                if let vault {
                    token = try broken.token(of: record, in: vault)
                    if token == nil { continue }
                }
                text += JSON.object(record.exported(token)).bytes + [0x0A]
            }
            try await lines.write(text)
            progress.add(page.records.count)
        }
        try lines.close()
        progress.end()
        if !isRevealing {
            session.console.note(
                "the export holds no tokens, so it is no backup: --reveal writes them")
        }
        try broken.check("the others were exported")
    }
}
