package import SIWADatabases
package import SIWALifecycle

/// Tables that share one version, with their migrations.
package struct Schema: Sendable {
    /// The table that holds the version.
    package let table: String
    /// The other tables.
    package let others: [String]
    /// The name of the tables in messages.
    package let subject: String
    /// The error for a database without the tables.
    package let missing: (kind: StoreError.Kind, message: String)
    /// The oldest version that can be migrated.
    package let first: Int
    /// Makes version ``first``.
    package let creation: Step
    /// The steps from ``first`` to the next versions. Released ones never change, and neither does
    /// ``creation``.
    package var migrations: [Step] = []

    /// The statements of a creation or migration.
    package typealias Step = @Sendable (Dialect) -> [String]

    package init(
        table: String, others: [String], subject: String,
        missing: (kind: StoreError.Kind, message: String), first: Int, creation: @escaping Step,
        migrations: [Step] = []
    ) {
        (self.table, self.others, self.subject) = (table, others, subject)
        (self.missing, self.first) = (missing, first)
        (self.creation, self.migrations) = (creation, migrations)
    }

    /// The version that this program reads and writes.
    package var version: Int { first + migrations.count }
}

// Creating and migrating the tables, within a writing transaction.
extension Schema {
    /// Creates the tables.
    ///
    /// - Throws: of kind `alreadyInitialized`.
    package func create(in database: any Database, _ name: String) throws(DatabaseFailure) {
        try lock(database)
        guard try !exists(in: database) else {
            throw DatabaseFailure(.alreadyInitialized, "there is a vault in \(name) already")
        }
        try make(in: database)
    }

    /// Creates or migrates the tables.
    package func createOrMigrate(_ database: any Database, _ name: String) throws(DatabaseFailure) {
        try lock(database)
        guard try pendingChange(in: database, name) != nil else { return }
        if try exists(in: database) {
            try migrate(database, name)
        } else {
            try make(in: database)
        }
    }

    /// What creating or migrating the tables would do, as a part of a sentence; nil if they are of
    /// this version. The vault's tables are never created.
    ///
    /// - Throws: if they cannot be used, also because of the vault's mark.
    package func pendingChange(
        in database: any Database, _ name: String
    ) throws(DatabaseFailure) -> String? {
        guard try (isVault ? true : exists(in: database)) else {
            try requireNoTables(in: database, name)
            return "\(subject) will be created"
        }
        guard try isOutdated(in: database, name) else {
            if isVault { try require(for: .writing, in: database, name) }
            return nil
        }
        try requireUnmarked(database, name)
        let found = try storedVersion(in: database, name)
        return "\(subject) will be migrated from version \(found) to \(version)"
    }

    /// Creates the tables in a database that has none of them.
    package func make(in database: any Database) throws(DatabaseFailure) {
        try run([creation] + migrations, in: database)
        _ = try database.run(
            "INSERT INTO \(table) (version) VALUES ($1)", .integer(version))
    }

    /// Whether the table of the version exists.
    ///
    /// - Throws: if that cannot be known, because the role of the connection sees no table.
    package func exists(in database: any Database) throws(DatabaseFailure) -> Bool {
        guard try database.run(database.dialect.tableExists(table)).isEmpty else { return true }
        guard let schemaless = database.dialect.schemaless,
            let row = try database.run(schemaless).first, let role = row.first?.text
        else { return false }
        throw DatabaseFailure(
            StoreError(
                .unusable,
                "the role \(role) may use no schema of its search_path (\(row.last?.text ?? ""))",
                remedy: """
                    give it back: GRANT USAGE, CREATE ON SCHEMA public TO \(role), or ALTER ROLE \(role) \
                    RESET search_path
                    """))
    }

    /// Whether the tables are older than this program.
    ///
    /// - Throws: of kind `notInitialized`, `tooNew` and `tooOld`.
    package func isOutdated(in database: any Database, _ name: String) throws(DatabaseFailure)
        -> Bool
    {
        guard try exists(in: database) else {
            throw DatabaseFailure(missing.kind, "\(missing.message) in \(name)")
        }
        return try isOutdated(try storedVersion(in: database, name), name)
    }

    private func isOutdated(_ found: Int, _ name: String) throws(DatabaseFailure) -> Bool {
        guard found <= version else {
            throw DatabaseFailure(
                .tooNew,
                """
                version \(found) of \(subject) in \(name) is newer than this siwa, which supports \
                \(version)
                """)
        }
        guard found >= first else {
            throw DatabaseFailure(
                .tooOld,
                """
                version \(found) of \(subject) in \(name) is of no release of siwa; this siwa supports \
                \(first == version ? "" : "\(first) to ")\(version)
                """)
        }
        return found < version
    }

    /// Fails unless the tables have this version and those of the vault have its version, if the
    /// vault's mark forbids the transaction, or if the vault is another one; one statement reads all of
    /// it.
    ///
    /// - Parameter proof: which vault it must be; nil for any.
    package func require(
        and vault: Schema, for access: Access, in database: any Database, _ name: String,
        proof: VaultProof? = nil
    ) throws(DatabaseFailure) {
        guard try exists(in: database) else {
            throw DatabaseFailure(missing.kind, "\(missing.message) in \(name)")
        }
        let columns =
            ["(SELECT version FROM \(table) LIMIT 1)"]
            + ["version", "state", "place", "move_id"].map {
                "(SELECT \($0) FROM \(vault.table) LIMIT 1)"
            } + VaultProof.columns(of: proof)
        let row = try database.run("SELECT \(columns.joined(separator: ", "))").first ?? []
        try require(row.first ?? .null, name)
        try vault.require(row.dropFirst(), for: access, name)
        try proof?.require(row, in: database)
    }

    /// Fails unless the vault's tables have this version, if the vault's mark forbids the transaction,
    /// or if the vault is another one.
    ///
    /// - Parameter proof: which vault it must be; nil for any.
    package func require(
        for access: Access, in database: any Database, _ name: String, proof: VaultProof? = nil
    ) throws(DatabaseFailure) {
        let columns =
            (isVault ? ["version", MoveMark.columns] : ["version"]) + VaultProof.columns(of: proof)
        let sql = "SELECT \(columns.joined(separator: ", ")) FROM \(table)"
        let row = try database.run(sql).first ?? [.null]
        try require(row[...], for: access, name)
        try proof?.require(row, in: database)
    }

    private func require(
        _ row: ArraySlice<Value>, for access: Access, _ name: String
    ) throws(DatabaseFailure) {
        try require(row.first ?? .null, name)
        guard isVault else { return }
        try MoveMark(row.dropFirst().prefix(MoveMark.count), name)?.check(access, name)
    }

    private func require(_ found: Value, _ name: String) throws(DatabaseFailure) {
        guard try isOutdated(try checked(found, name), name) else { return }
        throw DatabaseFailure(
            missing.kind, "\(subject) in \(name): the version is older than this program")
    }

    /// Migrates the tables to the current version.
    package func migrate(_ database: any Database, _ name: String) throws(DatabaseFailure) {
        try lock(database)
        // A newer siwa may have migrated them since they were looked at.
        guard try isOutdated(in: database, name) else { return }
        try requireUnmarked(database, name)
        let found = try storedVersion(in: database, name)
        try run(migrations.dropFirst(found - first), in: database)
        _ = try database.run("UPDATE \(table) SET version = $1", .integer(version))
    }

    /// Whether these are the vault's tables, which say whether the vault is moving.
    private var isVault: Bool { table == Self.vault.table }

    /// Fails if the vault's mark forbids to change it.
    private func requireUnmarked(
        _ database: any Database, _ name: String
    ) throws(DatabaseFailure) {
        if isVault { try database.mark(name)?.check(.writing, name) }
    }

    /// Lets other creations and migrations wait until the transaction ends.
    package func lock(_ database: any Database) throws(DatabaseFailure) {
        if let lock = database.dialect.lockSchema { _ = try database.run(lock) }
    }

    private func run(
        _ steps: some Sequence<Step>, in database: any Database
    ) throws(DatabaseFailure) {
        for step in steps {
            for sql in step(database.dialect) { _ = try database.run(sql) }
        }
    }

    /// The version of the tables.
    package func storedVersion(
        in database: any Database, _ name: String
    ) throws(DatabaseFailure) -> Int {
        try checked(
            try database.run("SELECT version FROM \(table)").first?.first ?? .null, name)
    }

    private func checked(_ found: Value, _ name: String) throws(DatabaseFailure) -> Int {
        guard let version = found.integer, version > 0 else {
            throw DatabaseFailure(.damaged, "\(subject) in \(name) does not say its version")
        }
        return version
    }
}

extension Schema {
    /// Fails if the table of the version is missing, but others exist.
    package func requireNoTables(in database: any Database, _ name: String) throws(DatabaseFailure)
    {
        for other in others where try !database.run(database.dialect.tableExists(other)).isEmpty {
            throw DatabaseFailure(
                .damaged, "\(name) has a table \(other), but not \(table)")
        }
    }
}

extension ConnectionPool {
    /// A connection to tables that are migrated when it is opened.
    package convenience init(_ connector: any DatabaseConnector, _ schema: Schema) {
        let name = connector.name
        self.init(connector) { connection throws(DatabaseFailure) in
            let isOutdated = try connection.transaction(.reading) {
                database throws(DatabaseFailure) in try schema.isOutdated(in: database, name)
            }
            guard isOutdated else { return }
            try connection.transaction(.writing) { database throws(DatabaseFailure) in
                try schema.migrate(database, name)
            }
        }
    }
}
