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
        guard try exists(in: database) else { return try make(in: database) }
        if try isOutdated(in: database, name) { try migrate(database, name) }
    }

    private func make(in database: any Database) throws(DatabaseFailure) {
        try run(0, in: database)
        _ = try database.run(
            "INSERT INTO \(table) (version) VALUES ($1)", .integer(version))
    }

    private func exists(in database: any Database) throws(DatabaseFailure) -> Bool {
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

    /// Fails unless the tables have this version and those of another schema have its version; one
    /// statement reads both.
    func require(
        and other: Schema, in database: any Database, _ name: String
    ) throws(DatabaseFailure) {
        guard try exists(in: database) else {
            throw DatabaseFailure(missing.kind, "\(missing.message) in \(name)")
        }
        let schemas = [self, other]
        let columns = schemas.map { "(SELECT version FROM \($0.table) LIMIT 1)" }
        let row = try database.run("SELECT \(columns.joined(separator: ", "))").first ?? []
        for (schema, found) in zip(schemas, row) { try schema.require(found, name) }
    }

    /// Fails unless the tables have this version.
    func require(in database: any Database, _ name: String) throws(DatabaseFailure) {
        try require(
            try database.run("SELECT version FROM \(table)").first?.first ?? .null, name)
    }

    private func require(_ found: Value, _ name: String) throws(DatabaseFailure) {
        guard try isOutdated(try checked(found, name), name) else { return }
        throw DatabaseFailure(
            missing.kind, "\(subject) in \(name): the version is older than this program")
    }

    /// Migrates the tables to the current version.
    func migrate(_ database: any Database, _ name: String) throws(DatabaseFailure) {
        try lock(database)
        try run(try storedVersion(in: database, name), in: database)
        _ = try database.run("UPDATE \(table) SET version = $1", .integer(version))
    }

    private func lock(_ database: any Database) throws(DatabaseFailure) {
        if let lock = database.dialect.lockSchema { _ = try database.run(lock) }
    }

    private func run(_ first: Int, in database: any Database) throws(DatabaseFailure) {
        for step in migrations.dropFirst(first) {
            for sql in step(database.dialect) { _ = try database.run(sql) }
        }
    }

    private func storedVersion(
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
