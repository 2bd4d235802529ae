package import SIWADatabases
internal import SIWALifecycle

// Secrets that are sealed with the vault's keys outside its records.
extension Database {
    /// Up to `limit` secrets after a row, in the order of their tables.
    func secrets(
        in tables: [SecretTable], notSealedWith number: Int?, after row: VaultSecret.Row?,
        _ limit: Int
    ) throws(DatabaseFailure) -> VaultSecretPage {
        var page = VaultSecretPage()
        for table in try tables.existing(in: self) {
            let start = table.start(after: row)
            guard start != .nowhere else { continue }
            let room = limit - page.secrets.count - page.damaged.count
            guard room > 0 else { break }
            var conditions = Conditions()
            if case .after(let key) = start { conditions.add("\(table.key) >", key) }
            conditions.add("(\(table.secret) IS NOT NULL OR key_number IS NOT NULL)")
            if let number {
                let other = conditions.add(.integer(number))
                conditions.add("(key_number IS NULL OR key_number <> \(other))")
            }
            let sql = """
                SELECT \(table.key), \(table.columns), key_number, \(table.secret)
                FROM \(table.name) \(conditions.sql) ORDER BY \(table.key)
                LIMIT \(conditions.add(.integer(room)))
                """
            for values in try run(sql, conditions.values) { page.add(values, of: table) }
        }
        return page
    }

    /// Replaces secrets that are still stored as they were read.
    func replace(
        _ changes: [VaultSecretChange], in tables: [SecretTable]
    ) throws(DatabaseFailure) -> Int {
        let tables = try tables.existing(in: self)
        guard !changes.isEmpty, !tables.isEmpty else { return 0 }
        try requireNewest(among: Set(changes.map(\.new.keyNumber)))
        var count = 0
        for change in changes {
            guard let table = tables.first(where: { $0.has(change.old.row) }) else { continue }
            let rows = try run(
                """
                UPDATE \(table.name) SET key_number = $2, \(table.secret) = $3
                WHERE \(table.key) = $1 AND \(table.secret) = $4 RETURNING 1
                """, change.old.row.value, .integer(change.new.keyNumber),
                .bytes(change.new.bytes), .bytes(change.old.sealed.bytes))
            count += rows.count
        }
        return count
    }
}

/// A table with sealed secrets, and its columns.
package struct SecretTable: Sendable {
    let kind: Kind
    let name, key, secret: String
    /// The columns that its place consists of.
    let columns: String
    /// The place that the encryption of a row authenticates, read from its columns.
    let place: @Sendable (VaultSecret.Row, inout CheckedRow) throws(DamagedColumn) -> [String]

    /// The rows of a table.
    package enum Kind: Int, Sendable {
        /// ``VaultSecret/Row/job(_:)``
        case jobs
        /// ``VaultSecret/Row/code(_:)``
        case codes
    }

    /// Names a table and its columns.
    package init(
        _ kind: Kind, name: String, key: String, secret: String, columns: String,
        place:
            @escaping @Sendable (VaultSecret.Row, inout CheckedRow) throws(DamagedColumn)
            -> [String]
    ) {
        (self.kind, self.name, self.key, self.secret) = (kind, name, key, secret)
        (self.columns, self.place) = (columns, place)
    }

    func has(_ row: VaultSecret.Row) -> Bool { kind == row.table }

    /// Where the reading of the table begins.
    enum Start: Equatable {
        case first
        case after(Value)
        /// The table was read before.
        case nowhere
    }

    func start(after row: VaultSecret.Row?) -> Start {
        guard let row else { return .first }
        if has(row) { return .after(row.value) }
        return kind.rawValue > row.table.rawValue ? .first : .nowhere
    }
}

extension [SecretTable] {
    fileprivate func existing(in database: any Database) throws(DatabaseFailure) -> Self {
        var tables: Self = []
        for table in self where try !database.run(database.dialect.tableExists(table.name)).isEmpty
        {
            tables.append(table)
        }
        return tables
    }
}

extension VaultSecret.Row {
    fileprivate var table: SecretTable.Kind {
        switch self {
        case .job: .jobs
        case .code: .codes
        }
    }

    fileprivate var value: Value {
        switch self {
        case .job(let number): .integer(number)
        case .code(let digest): .bytes(digest)
        }
    }
}

extension VaultSecretPage {
    /// Adds a row, whose values are untrusted.
    fileprivate mutating func add(_ values: [Value], of table: SecretTable) {
        guard let key = values.first else { return }
        let row: VaultSecret.Row =
            if case .integer(let number) = key { .job(number) } else { .code(key.textBytes) }
        next = row
        do throws(DamagedColumn) {
            var columns = CheckedRow(Array(values.dropFirst()))
            let place = try table.place(row, &columns)
            guard let sealed = try columns.optionalSecret() else {
                throw DamagedColumn("it has a secret without a key_number, or the reverse")
            }
            secrets.append(VaultSecret(row: row, place: place, sealed: sealed))
        } catch {
            damaged.append(StoreError(.recordDamaged, "\(row) is damaged: \(error.reason)"))
        }
    }
}
