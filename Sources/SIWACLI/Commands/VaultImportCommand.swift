internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// `siwa vault import`: imports many tokens.
struct VaultImportCommand: Command {
    static let name = "vault import"
    static let abstract = "Import refresh tokens into the vault, as JSON lines or CSV."
    static let discussion = """
        A line is {"user_id", "refresh_token", "client_id"?, "state"?, "signed_in_at"?, \
        "stored_at"?, "changed_at"?, "checked_at"?}, as 'siwa vault export --reveal' writes it; token is another \
        name for refresh_token, and other members are ignored. Or the input is CSV (RFC 4180) \
        whose header has the names of these members, in upper or lower case; an empty field is an \
        absent member. --map names a column that is called otherwise, and --delimiter what \
        separates the fields. Times are \
        RFC 3339, YYYY-MM-DD hh:mm:ss in UTC, or seconds since 1970. A line without a client \
        belongs to the one of the settings, one without a state is active, one without stored_at \
        is stored now.

        A token that the vault knows changes only from active or revoking, and only if the \
        line's changed_at is later; nothing becomes active again, and a token that was removed \
        keeps the last state of its history. With --overwrite-states it gets the state and times \
        of the line in any case. Lines are first encrypted and sorted, in \
        a temporary file in TMPDIR if they are many, and then stored in groups; a run that was \
        stopped can be run again from the start. Invalid lines are reported and skipped; the exit \
        code is then 1. --rejects writes each of them to a new file as {"line", "reason", \
        "client_id"?, "user_id"?}, without its token; a dry run creates no file, and writes them only \
        to a stream, such as /dev/stderr. A token whose row in the vault is damaged is not imported; the row is \
        named, and the exit code is then 3.
        """
    static let examples = [
        Example("siwa vault import tokens.jsonl --dry-run", "Count what a file would change."),
        Example(
            "psql -c \"copy (select sub as user_id, token from t) to stdout csv header\" | "
                + "siwa vault import",
            "Import the tokens of a table."),
        Example(
            "siwa vault import users.csv --delimiter ';' --map user_id=apple_sub "
                + "--map refresh_token=apple_token --rejects rejects.jsonl",
            "Import CSV with other columns, and keep what is wrong with its lines."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand(
                "FILE", \.input, help: "Read lines from FILE; - reads standard input.",
                completion: .file),
            .flag("dry-run", \.isDryRun, help: "Count what would happen; change nothing."),
            .flag(
                "overwrite-states", \.overwritesStates,
                help: "Give known tokens the state and times of their lines."),
            .option(
                "map", \.mappings, value: "MEMBER=COLUMN",
                help: "Read a member from the column of CSV that has another name."),
            .option(
                "delimiter", \.delimiter, value: "C",
                help: "Separate the fields of CSV by C, or by tab, in place of a comma."),
            .option(
                "rejects", \.rejects, value: "FILE",
                help: "Write invalid lines to FILE, a new file.", completion: .file),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var input = InputArgument.standard
    var isDryRun = false
    var overwritesStates = false
    var mappings: [ColumnMapping] = []
    var delimiter: DelimiterArgument?
    var rejects: String?
    var vault: VaultArgument?

    func run(in world: World) async throws {
        guard rejects != "-" else {
            throw UsageError.Problem.misuse(
                "--rejects needs a file", hint: "--rejects /dev/stdout writes to standard output")
        }
        try global.output.checkPrinted(among: ["imported", "updated", "unchanged", "invalid"])
        let session = try Session(global, vault: vault, in: world)
        let clientID = session.settings.text(.clientID) == nil ? nil : try session.clientID()
        var importer = VaultImporter(
            try session.vault(.statement), keys: session.vaultKeys,
            VaultImporter.Options(
                clientID: clientID, overwritesStates: overwritesStates, isDryRun: isDryRun,
                csv: CSVOptions(mappings: mappings, givenDelimiter: delimiter?.byte),
                now: world.clocks.now), in: world)
        let rejects = try openRejects(session)
        do {
            let input = try StreamingLines(input.path, in: world)
            let reading = RecordProgress(session, "lines read", of: .lines) {
                { input.source.expectedLines }
            }
            while let lines = try await input.next() {
                for line in lines { try importer.take(line) }
                try await rejects?.write(importer.takeRejected())
                reading.add(lines.count)
            }
            reading.end()
            warn(of: importer.unusual, session)
            warn(of: importer.clients, session)
            let total = importer.staged
            let merging = RecordProgress(session, "records compared with the vault") { { total } }
            try importer.finish(merging)
            try await rejects?.write(importer.takeRejected())
            try rejects?.close()
        } catch {
            if importer.counts != VaultImportCounts(), !isDryRun {
                session.console.note(
                    "\(importer.counts.imported) tokens were imported before it stopped; "
                        + "importing them again is harmless")
            }
            throw error
        }
        if isDryRun { session.console.note("a dry run: nothing was changed") }
        try session.report(report(importer))
        var broken = BrokenRecords()
        for error in importer.counts.broken { try broken.add(error) }
        let invalid = importer.invalid.count
        try broken.check(
            "the other tokens were \(isDryRun ? "compared" : "imported")"
                + (invalid > 0 ? "; \(invalid) lines are invalid" : ""))
        try importer.invalid.check(
            "imported",
            remedy: "fix the lines and import them again; 'siwa vault export' writes tokens only "
                + "with --reveal")
    }

    /// Before a line is read, so that a long import does not end with a file that cannot be written.
    /// A dry run creates no file, which would be in the way of the import itself.
    private func openRejects(_ session: Session) throws -> StreamingOutput? {
        guard let rejects else { return nil }
        try session.examineOutput(rejects)
        let status = session.world.files.status(rejects)
        // An open stream may be a file.
        if status?.isRegular == true, !rejects.hasPrefix("/dev/") {
            throw UsageError.Problem.misuse(
                message: "--rejects: the file \(rejects) exists", hints: ["name a new file"])
        }
        if isDryRun, status == nil {
            session.console.note(
                "a dry run does not create \(rejects); --rejects /dev/stderr shows the lines")
            return nil
        }
        return try StreamingOutput(to: rejects, in: session.world)
    }

    /// Warns of tokens that do not look like Apple's.
    private func warn(of unusual: LineNumbers, _ session: Session) {
        guard unusual.count > 0 else { return }
        session.console.warn(
            "tokens without the shape of Apple's refresh tokens: \(unusual.count); check "
                + unusual.words)
    }

    /// Warns of clients that no profile has: siwa can neither refresh nor revoke their tokens.
    private func warn(of clients: Set<ClientID>, _ session: Session) {
        guard let file = session.settings.file else { return }
        let known = file.profileNames.compactMap { file.profiles[$0]?.text(.clientID) }
        let unknown = clients.map(\.rawValue).filter {
            !known.contains($0) && $0 != session.settings.text(.clientID)?.value
        }
        guard !unknown.isEmpty else { return }
        session.console.warn(
            "no profile of \(file.path) has these clients, whose tokens can be neither refreshed nor "
                + "revoked until one has: \(unknown.sorted().joined(separator: ", "))")
    }

    private func report(_ importer: VaultImporter) -> Report {
        Report(
            [
                "imported": .integer(importer.counts.imported),
                "updated": .integer(importer.counts.updated),
                "unchanged": .integer(importer.counts.unchanged),
                "invalid": .integer(importer.invalid.count),
            ],
            of: isDryRun
                ? nil
                : Deed(
                    "\(importer.counts.imported) tokens were imported",
                    hint: "importing them again is harmless"))
    }
}
