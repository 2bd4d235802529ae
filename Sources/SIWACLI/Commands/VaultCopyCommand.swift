internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// `siwa vault copy`: moves a vault to another database.
struct VaultCopyCommand: Command {
    static let name = "vault copy"
    static let abstract = "Move the vault, with everything of siwa-server, to another database."
    static let discussion = """
        Copies all tables of siwa: tokens, the key table, history, inbox, deliveries, outbox, \
        journal of codes, API tokens, and the positions of cursors. Nothing is decrypted: the key \
        file stays, and the copy needs it. The target must not have a vault.

        Stop siwa-server and all jobs first: a running server is refused. While rows are copied, \
        the vault can be read; whatever would change it fails with exit code 75. At the end, counts \
        and digests of all tables are compared and printed, the copy can be used, and the old vault \
        cannot be changed any more: exit code 3, with the name of the new place.

        To continue a copy that was interrupted, run the command again. --abort ends it: the \
        incomplete copy is removed, and the old vault can be used again.
        """
    static let examples = [
        Example(
            "siwa vault copy --to postgresql://siwa@db.example.com/siwa --dry-run",
            "Count the rows, and check that the target can hold them."),
        Example(
            "siwa vault copy --to postgresql://siwa@db.example.com/siwa", "Move to PostgreSQL."),
        Example("siwa vault copy --to sqlite:/var/lib/siwa/vault.db --abort", "Stay after all."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "to", \.$target, value: "URL",
                help: "The new place, sqlite:PATH or postgresql://…: a database without a vault."),
            .flag("dry-run", \.isDryRun, help: "Count the rows, and change nothing."),
            .flag("abort", \.isAborting, help: "Remove an incomplete copy."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var target: VaultArgument
    var isDryRun = false
    var isAborting = false
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.output.checkPrinted(
            among: isAborting
                ? ["aborted", "from", "to", "removed"]
                : ["dry_run", "from", "to", "tables", "rows"])
        guard !isDryRun || !isAborting else {
            throw UsageError.Problem.misuse(
                "--dry-run and --abort exclude each other", hint: "give one of them")
        }
        let session = try Session(global, vault: vault, in: world)
        let (source, target) = (try session.vaultPlace(), try session.copyTarget(target))
        let copy = try world.vaultCopy(
            VaultCopyPlaces(from: source, to: target), try session.vaultTimeout(.statement))
        if isAborting { return try abort(copy, source, target, session) }
        if isDryRun { return try preview(copy, source, target, session) }
        let tables = try run(copy, session)
        session.console.note("set vault.url to \(target.name) now; the key file stays")
        try session.report(
            Report(
                Self.result(tables, source, target),
                of: Deed(
                    "the vault was moved to \(target.name)",
                    hint: "set vault.url to the new place; 'siwa vault check' examines it")))
    }

    private func run(_ copy: any VaultCopying, _ session: Session) throws -> [VaultTableCopy] {
        let progress = try RecordProgress(session, "rows examined, copied and compared")
        let ending = session.world.ending
        let result = try copy.run { count in
            progress.add(count)
            try ending.checkSignal()
        }
        progress.end()
        switch result {
        case .copied(let tables): return tables
        case .wasComplete:
            session.console.note(
                "an earlier run had completed the copy, so nothing was compared again")
            return []
        }
    }

    private func preview(
        _ copy: any VaultCopying, _ source: VaultCopyPlaces.Place,
        _ target: VaultCopyPlaces.Place, _ session: Session
    ) throws {
        let preview = try session.showing("the vault is read") { try copy.preview() }
        if preview.servers > 0 {
            session.console.warn("a siwa-server uses the vault: stop it before you copy")
        }
        try session.report(
            Report(
                .object(
                    [.init("dry_run", true)]
                        + (Self.result(preview.tables, source, target).members ?? []))))
    }

    private func abort(
        _ copy: any VaultCopying, _ source: VaultCopyPlaces.Place,
        _ target: VaultCopyPlaces.Place, _ session: Session
    ) throws {
        let removal = try session.world.ending.completing { try copy.abort() }
        try session.report(
            Report(
                [
                    "aborted": .boolean(removal.unmarksSource || removal.removesTarget),
                    "from": .string(source.name), "to": .string(target.name),
                    "removed": .boolean(removal.removesTarget),
                ],
                of: Deed("the copy was aborted", hint: "the old vault can be used again")))
    }

    private static func result(
        _ tables: [VaultTableCopy], _ source: VaultCopyPlaces.Place,
        _ target: VaultCopyPlaces.Place
    ) -> JSON {
        [
            "from": .string(source.name), "to": .string(target.name),
            "tables": .array(
                tables.map {
                    [
                        "table": .string($0.table), "rows": .integer($0.rows),
                        "digest": .string($0.digest),
                    ]
                }), "rows": .integer(tables.reduce(0) { $0 + $1.rows }),
        ]
    }
}

extension Session {
    /// The vault of the settings.
    fileprivate func vaultPlace() throws -> VaultCopyPlaces.Place {
        try place(of: try settings.vaultURL())
    }

    /// The database of `--to`.
    fileprivate func copyTarget(_ argument: VaultArgument) throws -> VaultCopyPlaces.Place {
        guard let url = argument.url else {
            throw UsageError.Problem.misuse(
                "--to has no URL", hint: "give \(VaultArgument.expectation)")
        }
        return try place(of: Setting(value: url, origin: .flag("--to")))
    }

    /// A database, after checking its files and its connection's protection.
    private func place(of url: Setting<String>) throws -> VaultCopyPlaces.Place {
        _ = try vaultStore(at: url, .statement)
        guard let path = Settings.path(inVault: url.value) else {
            return VaultCopyPlaces.Place(url: url.value, name: withoutPassword(url.value))
        }
        let absolute = "sqlite:" + world.files.absolutePath(path)
        return VaultCopyPlaces.Place(url: absolute, name: absolute)
    }
}
