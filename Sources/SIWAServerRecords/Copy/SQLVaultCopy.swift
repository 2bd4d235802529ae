internal import SIWADatabases
package import SIWALifecycle
internal import SIWAVaultRecords

/// Moves a vault from one database to another.
///
/// - Throws: ``StoreError`` of kind `unusable` for a URL that names no database.
package func openVaultCopy(
    _ places: VaultCopyPlaces, timeout: StoreTimeout
) throws(StoreError) -> any VaultCopying {
    SQLVaultCopy(
        from: CopySource(
            try connector(of: places.source.url, timeout: timeout), places.source.name),
        to: CopyTarget(
            try connector(of: places.target.url, timeout: timeout), places.target.name))
}

/// A move from one SQL database to another. Its progress is in the two: the mark of the source, the
/// mark of the target, and the rows of the target, which were added in the order of their keys.
struct SQLVaultCopy: VaultCopying {
    private let source: CopySource
    private let target: CopyTarget
    private let pageSize: Int

    /// - Parameter pageSize: the number of rows that are read at once.
    init(from source: CopySource, to target: CopyTarget, pageSize: Int = 500) {
        (self.source, self.target, self.pageSize) = (source, target, pageSize)
    }

    func preview() throws(StoreError) -> VaultCopyPreview {
        let (tables, servers) = try source.tables()
        let mark = try source.mark()
        if let mark, mark.state != .moving { throw refusal(mark) }
        switch try target.contents() {
        case .nothing: break
        case .incomplete(let copy): guard copy.id == mark?.id else { throw foreign(copy) }
        case .vault: throw occupied
        }
        do {
            let digests = try examined(tables, marked: nil) { _ in }
            return VaultCopyPreview(
                tables: zip(tables, digests).map { $1.copy(of: $0) }, servers: servers)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.damaged, "\(error)")
        }
    }

    func run(_ checkpoint: (Int) throws -> Void) throws -> VaultCopyResult {
        // Before the source is marked.
        let before = try target.contents()
        let known = try source.mark()
        switch before {
        case .nothing: break
        case .incomplete(let copy): guard copy.id == known?.id else { throw foreign(copy) }
        case .vault(let moveID):
            guard let known, known.id == moveID, known.state != .copying else { throw occupied }
            if known.state == .moving { try source.replace(known, by: known.becoming(.moved)) }
            return .wasComplete
        }
        if let known, known.state != .moving { throw refusal(known) }
        let (mark, isNew) = try source.begin(target.name)
        guard mark.state == .moving else { throw refusal(mark) }
        let tables = try source.tables().tables
        let digests: [RowDigest]
        do {
            digests = try examined(tables, marked: mark, checkpoint)
        } catch let error as StoreError {
            // Nothing was copied yet.
            if isNew, before == .nothing { try source.replace(mark, by: nil) }
            throw error
        }
        return try copy(tables, digests, mark, checkpoint)
    }

    private func copy(
        _ tables: [CopiedTable], _ digests: [RowDigest], _ mark: MoveMark,
        _ checkpoint: (Int) throws -> Void
    ) throws -> VaultCopyResult {
        let incomplete = MoveMark(.copying, place: source.name, id: mark.id)
        if try target.contents() == .nothing {
            try target.create(
                incomplete, withServer: tables.count > CopiedTable.vault.count)
        }
        for table in tables { try copyRows(of: table, mark, incomplete, checkpoint) }
        try continueNumbers(of: tables, incomplete)
        for (table, expected) in zip(tables, digests) {
            let found = try digest(of: table, reader(of: table, incomplete), checkpoint)
            guard found == expected else { throw difference(table, found, expected) }
        }
        let target = target
        try source.replace(mark, by: mark.becoming(.moved)) { () throws(StoreError) in
            try target.complete(incomplete)
        }
        return .copied(zip(tables, digests).map { $1.copy(of: $0) })
    }

    /// Each page is one transaction, which goes on after the last row of the target: so another run
    /// continues wherever this one ends, even while this one still runs.
    private func copyRows(
        of table: CopiedTable, _ mark: MoveMark, _ incomplete: MoveMark,
        _ checkpoint: (Int) throws -> Void
    ) throws {
        let (source, pageSize) = (source, pageSize)
        var count = pageSize
        while count == pageSize {
            count = try target.change(incomplete) { database throws(DatabaseFailure) in
                let last = try table.lastKey(in: database)
                let rows = try lifting { () throws(StoreError) in
                    try source.page(of: table, after: last, pageSize, marked: mark)
                }
                try table.add(rows, to: database)
                return rows.count
            }
            try checkpoint(count)
        }
    }

    private func continueNumbers(
        of tables: [CopiedTable], _ incomplete: MoveMark
    ) throws(StoreError) {
        try target.change(incomplete) { database throws(DatabaseFailure) in
            guard let sql = database.dialect.continueNumbers else { return }
            for table in tables where table.isNumbered { _ = try database.run(sql(table.name)) }
        }
    }

    /// The digests of the source's tables.
    ///
    /// - Throws: ``StoreError`` of kind `recordDamaged` that names rows which the target cannot
    ///   hold.
    private func examined(
        _ tables: [CopiedTable], marked mark: MoveMark?, _ checkpoint: (Int) throws -> Void
    ) throws -> [RowDigest] {
        let limits = try target.limits()
        var faults: [String] = []
        var count = 0
        var digests: [RowDigest] = []
        for table in tables {
            let source = source, pageSize = pageSize
            let read: PageReader = { key throws(StoreError) in
                try source.page(of: table, after: key, pageSize, marked: mark)
            }
            let digest = try digest(of: table, read, checkpoint) { rows in
                for fault in rows.lazy.compactMap({ limits.fault(of: $0, in: table) }) {
                    count += 1
                    if faults.count < Self.mostNamed { faults.append(fault) }
                }
            }
            digests.append(digest)
        }
        guard count == 0 else {
            throw StoreError(
                .recordDamaged,
                "the target cannot hold \(count) row\(count == 1 ? "" : "s") of the vault: "
                    + faults.joined(separator: "; ")
                    + (count > faults.count ? "; and \(count - faults.count) more" : ""))
        }
        return digests
    }

    private static var mostNamed: Int { 20 }

    /// Reads the rows after a key.
    private typealias PageReader = @Sendable (_ key: [Value]?) throws(StoreError) -> [[Value]]

    /// Reads the target.
    private func reader(of table: CopiedTable, _ incomplete: MoveMark) -> PageReader {
        let (target, pageSize) = (target, pageSize)
        return { key throws(StoreError) in
            try target.page(of: table, after: key, pageSize, marked: incomplete)
        }
    }

    private func digest(
        of table: CopiedTable, _ read: PageReader, _ checkpoint: (Int) throws -> Void,
        _ examine: ([[Value]]) -> Void = { _ in }
    ) throws -> RowDigest {
        var digest = RowDigest()
        var last: [Value]?
        while case let rows = try read(last), let end = rows.last {
            examine(rows)
            try digest.add(rows)
            last = table.key(of: end)
            try checkpoint(rows.count)
        }
        return digest
    }

    func abort() throws(StoreError) -> VaultCopyRemoval {
        let mark = try source.mark()
        if let mark {
            guard mark.state == .moving, mark.place == target.name else { throw refusal(mark) }
        }
        var removesTarget = false
        switch try target.contents() {
        case .nothing: break
        case .incomplete(let copy):
            // A restored source has no mark.
            guard copy.place == source.name, mark == nil || copy.id == mark?.id else {
                throw foreign(copy)
            }
            try target.remove(copy)
            removesTarget = true
        case .vault(let moveID):
            guard mark == nil || mark?.id != moveID else {
                throw StoreError(
                    .alreadyInitialized,
                    "the copy in \(target.name) is complete: run the command without --abort, "
                        + "which marks the source as moved")
            }
        }
        if let mark { try source.replace(mark, by: nil) }
        return VaultCopyRemoval(unmarksSource: mark != nil, removesTarget: removesTarget)
    }
}

// Refusals.
extension SQLVaultCopy {
    private func refusal(_ mark: MoveMark) -> StoreError {
        switch mark.state {
        case .copying:
            StoreError(
                .copyIncomplete,
                "the vault in \(source.name) is an incomplete copy of \(mark.place)")
        case .moving:
            StoreError(.moving, "the vault in \(source.name) is being moved to \(mark.place)")
        case .moved: StoreError(.moved, "the vault in \(source.name) was moved to \(mark.place)")
        }
    }

    private var occupied: StoreError {
        StoreError(.alreadyInitialized, "there is a vault in \(target.name) already")
    }

    private func foreign(_ copy: MoveMark) -> StoreError {
        StoreError(
            .copyIncomplete,
            "\(target.name) has an incomplete copy of \(copy.place), which this vault did not begin"
        )
    }

    private func difference(
        _ table: CopiedTable, _ found: RowDigest, _ expected: RowDigest
    ) -> StoreError {
        StoreError(
            .damaged,
            "the copy of \(table.name) differs: \(found.rows) of \(expected.rows) rows, or other "
                + "values; another program has changed one of the databases")
    }
}

extension MoveMark {
    /// The same move in another state.
    func becoming(_ state: State) -> Self { Self(state, place: place, id: id) }
}
