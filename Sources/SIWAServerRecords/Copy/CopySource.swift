internal import SIWADatabases
internal import SIWALifecycle
internal import SIWAVaultRecords

/// The vault that a copy reads.
struct CopySource: Sendable {
    let name: String
    private let pool: ConnectionPool
    private let connectorName: String

    init(_ connector: any DatabaseConnector, _ name: String) {
        pool = ConnectionPool(connector, .vault)
        (self.name, connectorName) = (name, connector.name)
    }

    /// The mark; nil without one.
    func mark() throws(StoreError) -> MoveMark? {
        try pool.transaction(.reading) { database throws(DatabaseFailure) in
            try database.mark(connectorName)
        }
    }

    /// The tables to copy, and the number of running servers. Migrates nothing.
    func tables() throws(StoreError) -> (tables: [CopiedTable], servers: Int) {
        try pool.transaction(.reading) { database throws(DatabaseFailure) in
            let hasServer = try hasServerTables(database)
            if hasServer, try Schema.server.isOutdated(in: database, connectorName) {
                throw DatabaseFailure(
                    .serverNotInitialized,
                    "the tables of siwa-server in \(connectorName) are of an older version")
            }
            return (
                CopiedTable.vault + (hasServer ? CopiedTable.server : []),
                hasServer ? try database.runningServers() : 0
            )
        }
    }

    private func hasServerTables(_ database: any Database) throws(DatabaseFailure) -> Bool {
        if try Schema.server.exists(in: database) { return true }
        try Schema.server.requireNoTables(in: database, connectorName)
        return false
    }

    /// Marks the source as moving, unless an earlier run did. Transactions that began before have
    /// ended then, and later ones see the mark.
    ///
    /// - Throws: ``StoreError`` of kind `busy` if a server is running, `moving` or `moved` if the
    ///   vault has another target.
    func begin(_ target: String) throws(StoreError) -> (mark: MoveMark, isNew: Bool) {
        try pool.transaction(.writing) { database throws(DatabaseFailure) in
            try database.lockMark()
            if let mark = try database.mark(connectorName) {
                if mark.state == .copying || mark.place != target {
                    try mark.check(.writing, connectorName)
                }
                return (mark, false)
            }
            if try hasServerTables(database) {
                try Schema.server.createOrMigrate(database, connectorName)
                let count = try database.runningServers()
                guard count == 0 else { throw Self.inUse(count, connectorName) }
            }
            let mark = MoveMark(.moving, place: target, id: Self.newID())
            try database.set(mark)
            return (mark, true)
        }
    }

    private static func inUse(_ count: Int, _ name: String) -> DatabaseFailure {
        DatabaseFailure(
            .inUse,
            "\(count == 1 ? "a siwa-server uses" : "\(count) siwa-servers use") the vault in \(name)"
        )
    }

    private static func newID() -> String {
        [UInt64.random(in: .min ... .max), .random(in: .min ... .max)]
            .map { String($0, radix: 16) }.joined(separator: "-")
    }

    /// Reads up to `limit` rows while the source has a mark.
    func page(
        of table: CopiedTable, after key: [Value]?, _ limit: Int, marked mark: MoveMark?
    ) throws(StoreError) -> [[Value]] {
        try pool.transaction(.reading) { database throws(DatabaseFailure) in
            if let mark { try require(mark, database) }
            return try table.page(after: key, limit, in: database)
        }
    }

    private func require(_ mark: MoveMark, _ database: any Database) throws(DatabaseFailure) {
        guard try database.mark(connectorName) == mark else {
            throw DatabaseFailure(
                .moving, "another process has ended the move of the vault in \(connectorName)")
        }
    }

    /// Replaces a mark by another one.
    ///
    /// - Parameter change: an operation while no other transaction can read the mark.
    func replace(
        _ mark: MoveMark, by next: MoveMark?,
        while change: (@Sendable () throws(StoreError) -> Void)? = nil
    ) throws(StoreError) {
        try pool.transaction(.writing) { database throws(DatabaseFailure) in
            try database.lockMark()
            try require(mark, database)
            if let change { try lifting(change) }
            try database.set(next)
        }
    }
}
