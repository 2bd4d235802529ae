internal import SIWADatabases
package import SIWALifecycle
package import SIWAVaultRecords

/// The storage of the server's inbox, outbox, journal and API tokens: tables in the vault's
/// database.
///
/// Every call is one transaction: when it returns, everything is on disk; when it throws, nothing
/// changed, or, if the database did not answer, the error says that this is unknown. Calls block,
/// and may come from several threads. Leases and ages use the database's clock. Rows are untrusted:
/// invalid rows are reported and never stop the others.
package final class ServerStore: Sendable {
    private let connector: any DatabaseConnector
    private let pool: ConnectionPool
    /// Which vault it must be; nil for any.
    private let proof: VaultProof?

    /// Opens the tables by the URL of their vault; see ``openVaultStore(_:timeout:secrets:)``.
    ///
    /// On PostgreSQL, nothing outlasts a transaction (no named statements, session settings or locks),
    /// so that it works with transaction poolers.
    package convenience init(_ url: String, timeout: StoreTimeout) throws(StoreError) {
        self.init(try SIWADatabases.connector(of: url, timeout: timeout, isPooled: true))
    }

    /// Loads the library and connects at the first call.
    init(_ connector: any DatabaseConnector, proof: VaultProof? = nil) {
        (self.connector, self.proof) = (connector, proof)
        pool = ConnectionPool(connector, .vault)
    }

    /// The same tables, over a connection of its own, whose transactions fail if the database is another
    /// vault.
    ///
    /// - Parameter fault: why the vault with these keys is another one; nil if it is not.
    package func proving(
        _ fault: @escaping @Sendable ([VaultKeyCheck]) -> StoreError?
    ) -> ServerStore { ServerStore(connector, proof: VaultProof(fault)) }

    /// Fails if a connection could not open the database's file now; does nothing for a server.
    package func requireAccess() throws(StoreError) {
        do throws(DatabaseFailure) {
            try connector.requireAccess()
        } catch {
            throw error.error
        }
    }

    /// Closes the connection; the next call opens another one. The last one of an SQLite vault brings
    /// the log into the file, and removes it.
    package func close() { pool.close() }

    /// The vault's records, over the same connection.
    package var vault: any VaultStore {
        let (name, proof) = (connector.name, proof)
        return SQLVaultStore(
            connector, pool, secrets: .server,
            requiring: { database, access throws(DatabaseFailure) in
                try Schema.vault.require(for: access, in: database, name, proof: proof)
            })
    }

    /// Runs a transaction after checking the versions of the tables, including the vault's.
    func transaction<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(StoreError) -> Result {
        let name = connector.name
        return try pool.transaction(access) { database throws(DatabaseFailure) in
            try Schema.server.require(
                and: .vault, for: access, in: database, name, proof: proof)
            return try body(database)
        }
    }

    /// Runs a transaction that counts what it changes.
    func counting<Result: Sendable>(
        _ body: (any Database, inout CountChanges) throws(DatabaseFailure) -> Result
    ) throws(StoreError) -> Result {
        try transaction(.writing) { database throws(DatabaseFailure) in
            var counts = CountChanges()
            let result = try body(database, &counts)
            try counts.write(to: database)
            return result
        }
    }

    /// Creates the tables, or updates them.
    ///
    /// - Parameter isAlone: no other process uses them: all leases end.
    /// - Throws: ``StoreError`` of kind `notInitialized` without a vault, `tooNew` if the tables
    ///   are of a newer version.
    package func prepare(isAlone: Bool) throws(StoreError) {
        let name = connector.name
        try pool.transaction(.writing) { database throws(DatabaseFailure) in
            try Self.prepare(database, name, isAlone: isAlone)
        }
    }

    private static func prepare(
        _ database: any Database, _ name: String, isAlone: Bool
    ) throws(DatabaseFailure) {
        try Schema.vault.require(for: .writing, in: database, name)
        try Schema.server.createOrMigrate(database, name)
        try database.bringBackParked()
        guard isAlone else { return try database.removeEndedServers(all: false) }
        try database.removeEndedServers(all: true)
        try database.endDeliveryLeases()
        try database.endCodeLeases()
        try database.endRevocationLeases()
    }

    /// Does what ``prepare(isAlone:)`` would do, and undoes it: a damaged database is met where a start
    /// would meet it.
    ///
    /// - Throws: what it would throw.
    package func rehearse(isAlone: Bool) throws(StoreError) {
        let name = connector.name
        var hasEnded = false
        do throws(StoreError) {
            try pool.examine(.writing) { database throws(DatabaseFailure) in
                try Self.prepare(database, name, isAlone: isAlone)
                hasEnded = true
                // Rolls back.
                throw DatabaseFailure(.unusable, "")
            }
        } catch {
            guard hasEnded else { throw error }
        }
    }

    /// Examines what ``prepare(isAlone:)`` would do, and changes nothing.
    ///
    /// - Throws: what it would throw.
    package func examine() throws(StoreError) -> ServerTables {
        let name = connector.name
        return try pool.examine(.writing) { database throws(DatabaseFailure) in
            var pending: [String] = []
            for schema in [Schema.vault, .server] {
                if let change = try schema.pendingChange(in: database, name) {
                    pending.append(change)
                } else {
                    let tables =
                        schema.table == Schema.vault.table ? CopiedTable.vault : CopiedTable.server
                    try schema.requireWhole(in: database)
                    for table in tables { try table.requireColumns(in: database) }
                }
            }
            if pending.isEmpty { try database.checkPosition() }
            return ServerTables(pending: pending, keyChecks: try database.keyChecks())
        }
    }

    /// Notes that a server is running, for the duration of ``ServerInstance/lease``.
    ///
    /// - Parameter facts: what it knows; nil just after its start.
    package func beat(
        _ server: ServerInstance, _ facts: ServerFacts? = nil
    ) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.beat(server, facts)
        }
    }

    /// Reads what `siwa status` shows. Works without the tables of siwa-server; tables of another
    /// version are refused.
    package func survey() throws(StoreError) -> ServerSurvey {
        let name = connector.name
        var survey = try pool.transaction(.reading) {
            database throws(DatabaseFailure) -> ServerSurvey in
            var survey = ServerSurvey()
            try Schema.vault.require(for: .reading, in: database, name)
            survey.vaultVersion = Schema.vault.version
            guard try Schema.server.exists(in: database) else { return survey }
            try Schema.server.require(and: .vault, for: .reading, in: database, name)
            survey.serverVersion = Schema.server.version
            survey.servers = try database.servers().withoutReplaced
            survey.counts = try database.serverCounts()
            survey.activity = try database.activity(hours: 24)
            return survey
        }
        survey.move = vault.move
        return survey
    }

    /// Notes that the whole vault was checked just now, for ``survey()``.
    ///
    /// - Parameter faults: how many were found.
    package func noteVaultCheck(faults: Int) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.noteVaultCheck(faults: faults)
        }
    }

    /// Notes that a server has ended.
    package func end(server id: String) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.end(server: id)
        }
    }

    /// Fails unless the database can be written, its tables are of this version, and all of them
    /// exist.
    ///
    /// - Returns: the vault's keys.
    @discardableResult
    package func check() throws(StoreError) -> [VaultKeyCheck] {
        try transaction(.writing) { database throws(DatabaseFailure) in
            for schema in [Schema.vault, .server] { try schema.requireWhole(in: database) }
            for table in CopiedTable.vault + CopiedTable.server {
                try table.requireColumns(in: database)
            }
            try database.checkPosition()
            return try database.keyChecks()
        }
    }
}

// The journal of codes.
extension ServerStore {
    /// Decides about a request; `send` leases the code to the owner.
    package func begin(_ request: CodeRequest, for lease: Lease) throws(StoreError) -> CodeDecision
    {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.begin(request, lease)
        }
    }

    /// Extends leases of codes that are being exchanged.
    package func renew(_ codes: [CodeDigest], for lease: Lease) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renew(codes, lease)
        }
    }

    /// Stores the outcome of a code that this owner sent.
    package func finish(
        _ code: CodeDigest, _ outcome: CodeOutcome, by owner: String
    ) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.finish(code, outcome, by: owner)
        }
    }

    /// Erases up to `limit` answers that are older than ``CodeEntry/replayed``. The entries remain.
    ///
    /// - Returns: the time until the next answer is to be erased; nil if none is stored.
    package func eraseAnswers(limit: Int) throws(StoreError) -> Duration? {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.eraseAnswers(limit)
        }
    }

    /// Returns up to `limit` stored answers after a code, in the order of their codes.
    package func keptAnswers(after code: CodeDigest?, limit: Int) throws(StoreError) -> [KeptAnswer]
    {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.keptAnswers(after: code, limit)
        }
    }

    /// Returns a view of the vault that stores the outcome of an exchange in the same transaction
    /// as its next change, which stores the token. That change is shown the events of the user that
    /// arrived before the token.
    ///
    /// - Parameter audiences: the `aud` of the notifications that concern the client.
    package func vault(
        finishing code: CodeDigest, _ outcome: CodeOutcome, by owner: String,
        heeding audiences: [ClientID]
    ) -> any VaultStore {
        vault(heeding: audiences) { database throws(DatabaseFailure) in
            try database.finish(code, outcome, by: owner)
        }
    }

    /// Returns a view of the vault whose changes are shown the events of their users that arrived
    /// before.
    ///
    /// - Parameter audiences: the `aud` of the notifications that concern the users' client.
    package func vault(heeding audiences: [ClientID]) -> any VaultStore {
        vault(heeding: audiences) { _ in }
    }

    private func vault(
        heeding audiences: [ClientID],
        alongside: @escaping @Sendable (any Database) throws(DatabaseFailure) -> Void
    ) -> any VaultStore {
        vault(
            alongside: { database, _ throws(DatabaseFailure) in try alongside(database) },
            notices: { database, users throws(DatabaseFailure) in
                try database.holdEvents()
                return try database.notices(of: users, from: audiences)
            })
    }

    /// Returns a view of the vault whose changes do more in their transactions.
    func vault(
        alongside: @escaping SQLVaultStore.Addition,
        notices: @escaping SQLVaultStore.NoticeSearch
    ) -> any VaultStore {
        let (name, proof) = (connector.name, proof)
        return SQLVaultStore(
            connector, pool, secrets: .server,
            requiring: { database, access throws(DatabaseFailure) in
                try Schema.server.require(
                    and: .vault, for: access, in: database, name, proof: proof)
            }, alongside: alongside, notices: notices)
    }
}

// The tokens of the API, and the counts.
extension ServerStore {
    /// Returns all tokens, by name.
    package func apiTokens() throws(StoreError) -> APITokenPage {
        try transaction(.reading) { database throws(DatabaseFailure) in try database.apiTokens() }
    }

    /// Adds a token.
    ///
    /// - Returns: false if a token with this name exists.
    package func add(_ token: APIToken) throws(StoreError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in try database.add(token) }
    }

    /// Removes a token.
    ///
    /// - Returns: false if no token has this name.
    package func removeAPIToken(_ name: String) throws(StoreError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.removeAPIToken(name)
        }
    }

    /// Counts the vault's tokens, unless a process has counted them less than 45 seconds ago: for
    /// one that asks at each heartbeat, so that they are at most a minute old.
    package func renewTokenCounts() throws(StoreError) {
        let seconds = 45
        let isOld = try transaction(.reading) { database throws(DatabaseFailure) in
            try database.areTokenCounts(olderThan: seconds)
        }
        guard isOld else { return }
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.countTokens(olderThan: seconds)
        }
    }

    /// Returns the numbers of records; of the vault's tokens, those that ``renewTokenCounts()`` counted
    /// last. Whoever only looks does not wait for a lock.
    package func counts() throws(StoreError) -> ServerCounts {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.serverCounts()
        }
    }

    /// Returns the counts of each of the last hours, the oldest first; hours without events are
    /// missing.
    package func activity(hours: Int) throws(StoreError) -> [HourlyActivity] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.activity(hours: hours)
        }
    }
}

extension ServerStore {
    /// Stores the current state of a claimed job, without events.
    package func note(
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String
    ) throws(StoreError) -> Bool {
        try note(job, retryAfter: delay, by: owner, events: .off)
    }

    /// Returns up to `limit` requests in some states, or in any, the newest first.
    package func revocations(
        _ states: [RevocationJob.State], limit: Int
    ) throws(StoreError) -> RevocationPage {
        try revocations(RevocationFilter(states: states), before: nil, limit: limit)
    }
}
