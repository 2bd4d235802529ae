internal import Lifecycle
internal import ServerRecords

/// The tables of siwa-server in a vault's database.
final class SQLServerStore: ServerStore {
    private let connector: any DatabaseConnector
    private let pool: ConnectionPool

    /// Loads the library and connects at the first call.
    init(_ connector: any DatabaseConnector) {
        self.connector = connector
        pool = ConnectionPool(connector, .current)
    }

    var vault: any VaultStore {
        let name = connector.name
        return SQLVaultStore(
            connector, pool,
            requiring: { database throws(DatabaseFailure) in
                try Schema.current.require(in: database, name)
            })
    }

    /// Runs a transaction on tables of this version, the vault's included.
    private func transaction<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(VaultError) -> Result {
        let name = connector.name
        return try pool.transaction(access) { database throws(DatabaseFailure) in
            try Schema.server.require(and: .current, in: database, name)
            return try body(database)
        }
    }

    /// Runs a transaction that counts what it changes.
    private func counting<Result: Sendable>(
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
            try Schema.server.createOrMigrate(database, name)
            guard isAlone else { return }
            try database.endDeliveryLeases()
            try database.endCodeLeases()
            try database.endRevocationLeases()
        }
    }

    func check() throws(VaultError) {
        try transaction(.writing) { _ in }
    }
}

// The inbox and its deliveries.
extension SQLServerStore {
    func receive(
        _ events: [IncomingEvent],
        _ decide: ([IncomingEvent], VaultPage) throws(VaultError) -> VaultChanges
    ) throws(VaultError) -> InboxReceipt {
        try counting { database, counts throws(DatabaseFailure) in
            var receipt = InboxReceipt()
            let new = try database.new(among: events)
            let users = Set(new.flatMap { $0.notice?.users ?? [] }).sorted()
            let page = try database.records(of: users, isLocking: true)
            receipt.damaged = page.damaged
            let changes = try lifting { () throws(VaultError) in try decide(new, page) }
            try database.write(changes, releasing: nil)
            receipt.stored = try database.insert(new, &counts)
            try database.deleteUnverified(events.compactMap(\.unverified), &counts)
            return receipt
        }
    }

    func keep(
        _ notification: UnverifiedNotification, limit: Int
    ) throws(VaultError) -> UnverifiedNotification.Outcome {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.insert(notification, limit: limit)
        }
    }

    func unverified(after position: Int, limit: Int) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.unverified(after: position, limit)
        }
    }

    func settle(
        _ ids: [EventID], as verdict: UnverifiedNotification.Verdict
    ) throws(VaultError) {
        try counting { database, counts throws(DatabaseFailure) in
            switch verdict {
            case .forged: try database.deleteUnverified(ids, &counts)
            case .rejected: try database.reject(ids, &counts)
            }
        }
    }

    func events(after position: Int, limit: Int) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.events(after: position, limit)
        }
    }

    func inbox(
        _ filter: InboxFilter, before position: Int?, limit: Int
    ) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.inbox(filter, before: position, limit)
        }
    }

    func inboxEvent(_ id: EventID) throws(VaultError) -> InboxPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.inboxEvent(id)
        }
    }

    func replay(_ selection: InboxSelection) throws(VaultError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.replay(selection)
        }
    }

    func discard(_ ids: [EventID]) throws(VaultError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in try database.discard(ids) }
    }

    func forget(_ userID: UserID) throws(VaultError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.forget(userID)
        }
    }

    func purge(_ retention: Retention, limit: Int) throws(VaultError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.purge(retention, limit)
        }
    }

    func claimDeliveries(
        limit: Int, for lease: VaultLease
    ) throws(VaultError) -> DueDeliveries {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.claimDeliveries(limit, lease)
        }
    }

    func renewDeliveries(
        _ ids: [EventID], for lease: VaultLease
    ) throws(VaultError) -> Set<EventID> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renewDeliveries(ids, lease)
        }
    }

    func note(_ outcomes: [DeliveryOutcome], by owner: String) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.note(outcomes, by: owner)
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

    func vault(
        finishing code: CodeDigest, _ outcome: CodeOutcome, by owner: String
    ) -> any VaultStore {
        let name = connector.name
        return SQLVaultStore(
            connector, pool,
            requiring: { database throws(DatabaseFailure) in
                try Schema.server.require(and: .current, in: database, name)
            },
            alongside: { database throws(DatabaseFailure) in
                try database.finish(code, outcome, by: owner)
            })
    }
}

// The outbox.
extension SQLServerStore {
    func add(
        _ request: RevocationRequest, _ jobs: [RevocationJob]
    ) throws(VaultError) -> RevocationStatus {
        try counting { database, counts throws(DatabaseFailure) in
            try database.add(request, jobs, &counts)
            guard let status = try database.revocation(request.id) else {
                throw DatabaseFailure(.damaged, "the outbox did not keep a request")
            }
            return status
        }
    }

    func revocation(_ id: String) throws(VaultError) -> RevocationStatus? {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.revocation(id)
        }
    }

    func revocations(
        _ states: [RevocationJob.State], limit: Int
    ) throws(VaultError) -> RevocationPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.revocations(states, limit)
        }
    }

    func retry(revocation id: String) throws(VaultError) -> RevocationStatus? {
        try counting { database, counts throws(DatabaseFailure) in
            try database.retry(id, &counts)
            return try database.revocation(id)
        }
    }

    func claimRevocations(
        of id: String?, limit: Int, for lease: VaultLease
    ) throws(VaultError) -> DueRevocations {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.claimRevocations(of: id, limit, lease)
        }
    }

    func renewRevocations(
        _ numbers: [Int], for lease: VaultLease
    ) throws(VaultError) -> Set<Int> {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.renewRevocations(numbers, lease)
        }
    }

    func note(
        _ job: RevocationJob, retryAfter delay: Duration?, by owner: String
    ) throws(VaultError) -> Bool {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.note(job, delay, by: owner)
        }
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
            try database.mustCountTokens()
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
