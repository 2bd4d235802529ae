internal import Lifecycle

/// Tables that share one version, with their migrations.
struct Schema: Sendable {
    /// The table that holds the version.
    var table = "vault_schema"
    /// The name of the tables in messages.
    var subject = "the vault"
    /// The error for a database without the tables.
    var missing: (kind: VaultError.Kind, message: String) = (.notInitialized, "there is no vault")
    /// The migrations from each version to the next; the first makes version 1. Released steps
    /// never change.
    let migrations: [@Sendable (Dialect) -> [String]]

    /// The version that this program reads and writes.
    var version: Int { migrations.count }

    static let current = Self(migrations: [tables, turns, tokens])

    /// `lease_until` of a free record is when it was last touched: claims take the records with the
    /// oldest change first, so that they never search finished ones
    /// (docs/decisions/vault-storage.md).
    @Sendable private static func tables(_ dialect: Dialect) -> [String] {
        let (integer, text, bytes) = (dialect.integer, dialect.text, dialect.bytes)
        let states = VaultState.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return [
            "CREATE TABLE vault_schema (version \(integer) NOT NULL) \(dialect.tableOptions)",
            """
            CREATE TABLE vault_key (
                number \(integer) NOT NULL PRIMARY KEY,
                check_value \(bytes) NOT NULL
            ) \(dialect.tableOptions)
            """,
            """
            CREATE TABLE vault_token (
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                state \(text) NOT NULL CHECK (state IN (\(states))),
                key_number \(integer) NOT NULL REFERENCES vault_key (number),
                version \(integer) NOT NULL,
                sealed \(bytes) NOT NULL,
                stored_at \(integer) NOT NULL,
                changed_at \(integer) NOT NULL,
                checked_at \(integer),
                lease_owner \(text),
                lease_until \(integer) NOT NULL DEFAULT 0,
                PRIMARY KEY (client_id, user_id)
            ) \(dialect.orderedTableOptions)
            """,
            "CREATE INDEX vault_token_state ON vault_token (state, client_id, user_id)",
            """
            CREATE INDEX vault_token_turn
            ON vault_token (client_id, state, lease_until, user_id)
            """,
        ]
    }

    /// Records that a run releases are for later runs. Otherwise, two parallel runs would pass
    /// refused records back and forth.
    @Sendable private static func turns(_ dialect: Dialect) -> [String] {
        ["ALTER TABLE vault_token ADD COLUMN given_back_at \(dialect.integer)"]
    }

    /// Every token is a separate record with its fingerprint, and every change of state has an
    /// entry in the history. Records of version 2 have no fingerprint (an empty text) until a
    /// command with the key opens them. The primary key is the only constraint: an invalid row is
    /// reported as damaged, and must not prevent the migration of others.
    @Sendable private static func tokens(_ dialect: Dialect) -> [String] {
        (dialect.altersConstraints ? alteredTokens(dialect) : copiedTokens(dialect))
            + [
                """
                CREATE INDEX vault_token_state
                ON vault_token (state, client_id, user_id, token_fingerprint)
                """
            ] + history(dialect)
    }

    private static func alteredTokens(_ dialect: Dialect) -> [String] {
        [
            "ALTER TABLE vault_token DROP CONSTRAINT IF EXISTS vault_token_state_check",
            "ALTER TABLE vault_token DROP CONSTRAINT IF EXISTS vault_token_key_number_fkey",
            "ALTER TABLE vault_token ALTER COLUMN version DROP NOT NULL",
            """
            ALTER TABLE vault_token ADD COLUMN token_fingerprint \(dialect.text) NOT NULL DEFAULT ''
            """,
            "ALTER TABLE vault_token DROP CONSTRAINT vault_token_pkey",
            "ALTER TABLE vault_token ADD PRIMARY KEY (client_id, user_id, token_fingerprint)",
            "DROP INDEX vault_token_state",
        ]
    }

    private static func copiedTokens(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        let columns = """
            client_id, user_id, state, key_number, version, sealed, stored_at, changed_at, \
            checked_at, lease_owner, lease_until, given_back_at
            """
        return [
            """
            CREATE TABLE vault_token_3 (
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                token_fingerprint \(text) NOT NULL DEFAULT '',
                state \(text) NOT NULL,
                key_number \(integer) NOT NULL,
                version \(integer),
                sealed \(dialect.bytes) NOT NULL,
                stored_at \(integer) NOT NULL,
                changed_at \(integer) NOT NULL,
                checked_at \(integer),
                lease_owner \(text),
                lease_until \(integer) NOT NULL DEFAULT 0,
                given_back_at \(integer),
                PRIMARY KEY (client_id, user_id, token_fingerprint)
            ) \(dialect.orderedTableOptions)
            """,
            "INSERT INTO vault_token_3 (\(columns)) SELECT \(columns) FROM vault_token",
            "DROP TABLE vault_token",
            "ALTER TABLE vault_token_3 RENAME TO vault_token",
            """
            CREATE INDEX vault_token_turn
            ON vault_token (client_id, state, lease_until, user_id)
            """,
        ]
    }

    private static func history(_ dialect: Dialect) -> [String] {
        let (integer, text) = (dialect.integer, dialect.text)
        return [
            """
            CREATE TABLE vault_history (
                \(dialect.numberedRows),
                at \(integer) NOT NULL,
                event \(text) NOT NULL,
                client_id \(text) NOT NULL,
                user_id \(text) NOT NULL,
                token_fingerprint \(text) NOT NULL,
                evidence \(text),
                http_status \(integer),
                apple_request_id \(text),
                command \(text) NOT NULL,
                host \(text) NOT NULL,
                new_user_id \(text)
            ) \(dialect.tableOptions)
            """,
            "CREATE INDEX vault_history_time ON vault_history (at, id)",
            "CREATE INDEX vault_history_user ON vault_history (user_id, at, id)",
            """
            CREATE INDEX vault_history_new_user ON vault_history (new_user_id, at, id)
            WHERE new_user_id IS NOT NULL
            """,
        ]
    }
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
