internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// The options of the commands that delete old rows of a vault, and their result.
struct PruneOptions: Sendable {
    @Required var age: DurationArgument
    var vault: VaultArgument?

    /// - Parameter help: which rows `--older-than` selects.
    static func parameters<Root>(
        at path: Path<Root, Self>, help: String
    ) -> [Parameter<Root>] {
        let options: [Parameter<Self>] = [
            .option("older-than", \.$age, value: "DURATION", help: help),
            VaultArgument.option(\.vault),
        ]
        return options.map { $0.rerooted(at: path) }
    }

    /// Opens the vault.
    func session(_ global: GlobalOptions, in world: World) throws -> Session {
        try global.output.checkPrinted(among: ["pruned"])
        return try Session(global, vault: vault, in: world)
    }

    /// Deletes batches of rows until `delete` reports that none are left; prints the number of
    /// deleted rows.
    ///
    /// - Parameters:
    ///   - deed: what was done, after the number: "tokens were removed from the vault".
    ///   - expected: returns the number of rows to look at, given the date before which they must
    ///     be (``RecordProgress``).
    ///   - delete: deletes a batch of them; it may find none and not be the last.
    /// - Throws: ``Interruption`` if a signal arrives before the last batch.
    func run(
        _ session: Session, _ deed: String,
        expected: (NumericDate) throws -> @Sendable () -> Int?,
        _ delete: (NumericDate) throws -> (count: Int, searched: Int, isLast: Bool)
    ) throws {
        let limit = session.world.clocks.now() - age.duration
        let progress = try RecordProgress(session, deed, of: .search) { try expected(limit) }
        var (count, isLast) = (0, false)
        while !isLast {
            let batch = try session.world.ending.completing { try delete(limit) }
            count += batch.count
            progress.add(batch.count, searched: batch.searched)
            isLast = batch.isLast
            guard !isLast, session.world.ending.signal != nil else { continue }
            session.console.note("\(count) \(deed) before it stopped")
            try session.world.ending.checkSignal()
        }
        progress.end()
        try session.report(
            Report(
                ["pruned": .integer(count)],
                of: Deed("\(count) \(deed)", hint: "running it again is harmless")))
    }
}
