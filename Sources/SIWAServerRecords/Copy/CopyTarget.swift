internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The database that a copy writes.
struct CopyTarget: Sendable {
    let name: String
    private let connector: any DatabaseConnector
    private let pool: ConnectionPool

    init(_ connector: any DatabaseConnector, _ name: String) {
        (self.connector, self.name) = (connector, name)
        pool = ConnectionPool(connector, .vault)
    }

    /// What the database has.
    enum Contents: Equatable {
        /// No tables of siwa's.
        case nothing
        /// An incomplete copy.
        case incomplete(MoveMark)
        /// A vault; `moveID` identifies the copy that it was made by.
        case vault(moveID: String?)
    }

    /// Examines the database, and changes nothing.
    ///
    /// - Throws: ``StoreError`` of kind `damaged` if it has some tables of siwa's.
    func contents() throws(StoreError) -> Contents {
        do throws(StoreError) {
            return try pool.examine(.reading) { database throws(DatabaseFailure) in
                try contents(database)
            }
        } catch {
            // The file does not exist.
            guard error.kind == .notInitialized else { throw error }
            return .nothing
        }
    }

    private func contents(_ database: any Database) throws(DatabaseFailure) -> Contents {
        let vault = Schema.vault
        guard try vault.exists(in: database) else {
            for schema in [vault, .server] {
                try schema.requireNoTables(in: database, connector.name)
            }
            return .nothing
        }
        guard try vault.storedVersion(in: database, connector.name) >= vault.first else {
            return .vault(moveID: nil)
        }
        if let mark = try database.mark(connector.name) {
            return mark.state == .copying ? .incomplete(mark) : .vault(moveID: nil)
        }
        let id = try database.run("SELECT move_id FROM vault_schema").first?.first?.text
        return .vault(moveID: id)
    }

    /// The values that the database cannot hold. A missing file can hold all.
    func limits() throws(StoreError) -> TextLimits {
        do throws(StoreError) {
            return try pool.examine(.reading) { database throws(DatabaseFailure) in
                try TextLimits(of: database, connector.name)
            }
        } catch {
            guard error.kind == .notInitialized else { throw error }
            return TextLimits()
        }
    }

    /// Creates the tables, without rows, as an incomplete copy.
    func create(_ mark: MoveMark, withServer: Bool) throws(StoreError) {
        try pool.create { database throws(DatabaseFailure) in
            try Schema.vault.create(in: database, connector.name)
            if withServer {
                try Schema.server.make(in: database)
                // They are copied.
                _ = try database.run("DELETE FROM server_count")
            }
            try database.set(mark)
        }
    }

    /// Changes the incomplete copy.
    func change<Result: Sendable>(
        _ mark: MoveMark, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(StoreError) -> Result {
        try pool.transaction(.writing) { database throws(DatabaseFailure) in
            try require(mark, database)
            return try body(database)
        }
    }

    /// Reads up to `limit` rows.
    func page(
        of table: CopiedTable, after key: [Value]?, _ limit: Int, marked mark: MoveMark
    ) throws(StoreError) -> [[Value]] {
        try pool.transaction(.reading) { database throws(DatabaseFailure) in
            try require(mark, database)
            return try table.page(after: key, limit, in: database)
        }
    }

    /// Makes it an ordinary vault.
    func complete(_ mark: MoveMark) throws(StoreError) {
        try pool.transaction(.writing) { database throws(DatabaseFailure) in
            // After a lost connection, it may be complete already.
            guard try contents(database) != .vault(moveID: mark.id) else { return }
            try require(mark, database)
            _ = try database.run("UPDATE vault_schema SET state = NULL")
        }
    }

    private func require(_ mark: MoveMark, _ database: any Database) throws(DatabaseFailure) {
        guard try Schema.vault.exists(in: database), try database.mark(connector.name) == mark
        else {
            throw DatabaseFailure(
                .moving, "another process has changed the incomplete copy in \(connector.name)")
        }
    }

    /// Removes the tables, and a file that has no others.
    func remove(_ mark: MoveMark) throws(StoreError) {
        try change(mark) { database throws(DatabaseFailure) in
            try Schema.vault.lock(database)
            for schema in [Schema.server, .vault] {
                for table in schema.others + [schema.table] {
                    _ = try database.run("DROP TABLE IF EXISTS \(table)")
                }
            }
        }
        pool.close()
        do throws(DatabaseFailure) { try connector.removeIfEmpty() } catch { throw error.error }
    }
}
