internal import Lifecycle

/// Tables that share one version, with their migrations.
struct Schema: Sendable {
    /// The table that holds the version.
    let table: String
    /// The name of the tables in messages.
    let subject: String
    /// The error for a database without the tables.
    let missing: (kind: VaultError.Kind, message: String)
    /// The migrations from each version to the next; the first makes version 1. Released steps
    /// never change.
    let migrations: [@Sendable (Dialect) -> [String]]

    /// The version that this program reads and writes.
    var version: Int { migrations.count }
}

// Creating and migrating the tables, within a writing transaction.
extension Schema {
    /// Creates the tables.
    ///
    /// - Throws: of kind `alreadyInitialized`.
    func create(in database: any Database, _ name: String) throws(DatabaseFailure) {
        try lock(database)
        guard try !exists(in: database) else {
            throw DatabaseFailure(.alreadyInitialized, "there is a vault in \(name) already")
        }
        try make(in: database)
    }

    /// Creates or migrates the tables.
    func createOrMigrate(_ database: any Database, _ name: String) throws(DatabaseFailure) {
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
    func pendingChange(
        in database: any Database, _ name: String
    ) throws(DatabaseFailure) -> String? {
        let isVault = table == Self.vault.table
        guard try (isVault ? true : exists(in: database)) else {
            try requireNoTables(in: database, name)
            return "\(subject) will be created"
        }
        guard try isOutdated(in: database, name) else {
            if isVault { try require(for: .writing, in: database, name) }
            return nil
        }
        let found = try storedVersion(in: database, name)
        if hasMark(at: found) { try database.mark(name)?.check(.writing, name) }
        return "\(subject) will be migrated from version \(found) to \(version)"
    }

    /// Creates the tables in a database that has none of them.
    func make(in database: any Database) throws(DatabaseFailure) {
        try run(0, in: database)
        _ = try database.run(
            "INSERT INTO \(table) (version) VALUES ($1)", .integer(version))
    }

    /// Whether the table of the version exists.
    func exists(in database: any Database) throws(DatabaseFailure) -> Bool {
        try !database.run(database.dialect.tableExists(table)).isEmpty
    }

    /// Whether the tables are older than this program.
    ///
    /// - Throws: of kind `notInitialized` and `tooNew`.
    func isOutdated(in database: any Database, _ name: String) throws(DatabaseFailure) -> Bool {
        guard try exists(in: database) else {
            throw DatabaseFailure(missing.kind, "\(missing.message) in \(name)")
        }
        return try isOutdated(try storedVersion(in: database, name), name)
    }

    private func isOutdated(_ found: Int, _ name: String) throws(DatabaseFailure) -> Bool {
        guard found <= version else {
            throw DatabaseFailure(
                .tooNew,
                "\(subject) in \(name) has tables of version \(found); this siwa supports \(version)"
            )
        }
        return found < version
    }

    /// Fails unless the tables have this version and those of the vault have its version, or if the
    /// vault's mark forbids the transaction; one statement reads all of it.
    func require(
        and vault: Schema, for access: Access, in database: any Database, _ name: String
    ) throws(DatabaseFailure) {
        guard try exists(in: database) else {
            throw DatabaseFailure(missing.kind, "\(missing.message) in \(name)")
        }
        let columns =
            ["(SELECT version FROM \(table) LIMIT 1)"]
            + ["version", "state", "place", "move_id"].map {
                "(SELECT \($0) FROM \(vault.table) LIMIT 1)"
            }
        let row = try database.run("SELECT \(columns.joined(separator: ", "))").first ?? []
        try require(row.first ?? .null, name)
        try vault.require(row.dropFirst(), for: access, name)
    }

    /// Fails unless the vault's tables have this version, or if the vault's mark forbids the
    /// transaction.
    func require(
        for access: Access, in database: any Database, _ name: String
    ) throws(DatabaseFailure) {
        let columns = hasMark(at: version) ? "version, \(MoveMark.columns)" : "version"
        let row = try database.run("SELECT \(columns) FROM \(table)").first ?? [.null]
        try require(row[...], for: access, name)
    }

    private func require(
        _ row: ArraySlice<Value>, for access: Access, _ name: String
    ) throws(DatabaseFailure) {
        try require(row.first ?? .null, name)
        guard hasMark(at: version) else { return }
        try MoveMark(row.dropFirst(), name)?.check(access, name)
    }

    private func require(_ found: Value, _ name: String) throws(DatabaseFailure) {
        guard try isOutdated(try checked(found, name), name) else { return }
        throw DatabaseFailure(
            missing.kind, "\(subject) in \(name): the version is older than this program")
    }

    /// Migrates the tables to the current version.
    func migrate(_ database: any Database, _ name: String) throws(DatabaseFailure) {
        try lock(database)
        let found = try storedVersion(in: database, name)
        if hasMark(at: found) { try database.mark(name)?.check(.writing, name) }
        try run(found, in: database)
        _ = try database.run("UPDATE \(table) SET version = $1", .integer(version))
    }

    /// Lets other creations and migrations wait until the transaction ends.
    func lock(_ database: any Database) throws(DatabaseFailure) {
        if let lock = database.dialect.lockSchema { _ = try database.run(lock) }
    }

    private func run(_ first: Int, in database: any Database) throws(DatabaseFailure) {
        for step in migrations.dropFirst(first) {
            for sql in step(database.dialect) { _ = try database.run(sql) }
        }
    }

    /// The version of the tables.
    func storedVersion(
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
