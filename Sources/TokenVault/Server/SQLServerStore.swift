internal import Lifecycle
internal import ServerRecords

/// The tables of siwa-server in a vault's database.
final class SQLServerStore: ServerStore {
    private let connector: any DatabaseConnector
    private let pool: ConnectionPool

    /// Loads the library and connects at the first call.
    init(_ connector: any DatabaseConnector) {
        self.connector = connector
        pool = ConnectionPool(connector, .vault)
    }

    var vault: any VaultStore {
        let name = connector.name
        return SQLVaultStore(
            connector, pool,
            requiring: { database, access throws(DatabaseFailure) in
                try Schema.vault.require(for: access, in: database, name)
            })
    }

    /// Runs a transaction after checking the versions of the tables, including the vault's.
    func transaction<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(VaultError) -> Result {
        let name = connector.name
        return try pool.transaction(access) { database throws(DatabaseFailure) in
            try Schema.server.require(and: .vault, for: access, in: database, name)
            return try body(database)
        }
    }

    /// Runs a transaction that counts what it changes.
    func counting<Result: Sendable>(
        _ body: (any Database, inout CountChanges) throws(DatabaseFailure) -> Result
    ) throws(VaultError) -> Result {
        try transaction(.writing) { database throws(DatabaseFailure) in
            var counts = CountChanges()
            let result = try body(database, &counts)
            try counts.write(to: database)
            return result
        }
    }

    func prepare(isAlone: Bool) throws(VaultError) {
        let name = connector.name
        try pool.transaction(.writing) { database throws(DatabaseFailure) in
            try Schema.vault.require(for: .writing, in: database, name)
            try Schema.server.createOrMigrate(database, name)
            try database.bringBackParked()
            guard isAlone else { return try database.removeEndedServers(all: false) }
            try database.removeEndedServers(all: true)
            try database.endDeliveryLeases()
            try database.endCodeLeases()
            try database.endRevocationLeases()
        }
    }

    func examine() throws(VaultError) -> ServerTables {
        let name = connector.name
        return try pool.examine(.writing) { database throws(DatabaseFailure) in
            var pending: [String] = []
            for schema in [Schema.vault, .server] {
                if let change = try schema.pendingChange(in: database, name) {
                    pending.append(change)
                } else {
                    let tables =
                        schema.table == Schema.vault.table ? CopiedTable.vault : CopiedTable.server
                    for table in tables { try table.requireColumns(in: database) }
                }
            }
            return ServerTables(pending: pending, keyChecks: try database.keyChecks())
        }
    }

    func beat(_ server: ServerInstance) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.beat(server)
        }
    }

    func end(server id: String) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.end(server: id)
        }
    }

    func check() throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.checkPosition()
        }
    }
}

// The journal of codes.
extension SQLServerStore {
    func begin(_ request: CodeRequest, for lease: VaultLease) throws(VaultError) -> CodeDecision {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.begin(request, lease)
        }
    }

    func renew(_ codes: [CodeDigest], for lease: VaultLease) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renew(codes, lease)
        }
    }

    func finish(
        _ code: CodeDigest, _ outcome: CodeOutcome, by owner: String
    ) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.finish(code, outcome, by: owner)
        }
    }

    func eraseAnswers(limit: Int) throws(VaultError) -> Duration? {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.eraseAnswers(limit)
        }
    }

    func keptAnswers(after code: CodeDigest?, limit: Int) throws(VaultError) -> [KeptAnswer] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.keptAnswers(after: code, limit)
        }
    }

    func vault(
        finishing code: CodeDigest, _ outcome: CodeOutcome, by owner: String,
        heeding audiences: [ClientID]
    ) -> any VaultStore {
        vault(heeding: audiences) { database throws(DatabaseFailure) in
            try database.finish(code, outcome, by: owner)
        }
    }

    func vault(heeding audiences: [ClientID]) -> any VaultStore {
        vault(heeding: audiences) { _ in }
    }

    private func vault(
        heeding audiences: [ClientID],
        alongside: @escaping @Sendable (any Database) throws(DatabaseFailure) -> Void
    ) -> any VaultStore {
        let name = connector.name
        return SQLVaultStore(
            connector, pool,
            requiring: { database, access throws(DatabaseFailure) in
                try Schema.server.require(and: .vault, for: access, in: database, name)
            },
            alongside: alongside,
            notices: { database, users throws(DatabaseFailure) in
                try database.holdEvents()
                return try database.notices(of: users, from: audiences)
            })
    }
}

// The tokens of the API, and the counts.
extension SQLServerStore {
    func apiTokens() throws(VaultError) -> APITokenPage {
        try transaction(.reading) { database throws(DatabaseFailure) in try database.apiTokens() }
    }

    func add(_ token: APIToken) throws(VaultError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in try database.add(token) }
    }

    func removeAPIToken(_ name: String) throws(VaultError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.removeAPIToken(name)
        }
    }

    func counts() throws(VaultError) -> ServerCounts {
        let isOld = try transaction(.reading) { database throws(DatabaseFailure) in
            try database.areTokenCountsOld()
        }
        if isOld {
            try transaction(.writing) { database throws(DatabaseFailure) in
                try database.countTokens()
            }
        }
        return try transaction(.reading) { database throws(DatabaseFailure) in
            try database.serverCounts()
        }
    }

    func activity(hours: Int) throws(VaultError) -> [HourlyActivity] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.activity(hours: hours)
        }
    }
}
