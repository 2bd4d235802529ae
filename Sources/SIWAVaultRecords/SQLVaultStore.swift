package import SIWADatabases
package import SIWAJOSE
package import SIWALifecycle
internal import Synchronization

/// Creates the store of a vault by its URL: `sqlite:PATH` for a file, or `postgresql://…`, in
/// libpq's format, for a database on a server. The first call of the store loads the library and
/// connects; the connection is kept until the store is released.
///
/// A store runs one transaction at a time. The closures of ``VaultStore/change(_:releasing:_:)``
/// and ``VaultStore/claim(_:limit:for:_:)`` may be called again if the connection broke or another
/// transaction came first. They must not call the store.
///
/// - Parameters:
///   - url: the URL.
///   - timeout: the time limit of a call, after which it throws ``StoreError`` of kind `busy` if
///     others hold a lock, or `unreachable`.
///   - secrets: the tables that have secrets outside the records.
///   - others: schemas whose tables may be in the same database, all or none of them.
/// - Throws: ``StoreError`` of kind `unusable` for any other URL. The message does not contain the
///   URL, which may have a password.
package func openVaultStore(
    _ url: String, timeout: StoreTimeout, secrets: [SecretTable] = [], others: [Schema] = []
) throws(StoreError) -> any VaultStore {
    SQLVaultStore(try connector(of: url, timeout: timeout), secrets: secrets, others: others)
}

/// A vault in an SQL database.
package final class SQLVaultStore: VaultStore {
    private let connector: any DatabaseConnector
    private let pool: ConnectionPool
    private let schema: Schema
    private let secrets: [SecretTable]
    /// Schemas whose tables may be in the same database.
    private let others: [Schema]
    /// For questions that must not wait for the transactions of ``pool``.
    private let inquiries: ConnectionPool
    /// The progress of each owner's claims.
    private let runs = Mutex<[String: ClaimRun]>([:])
    /// The leases that each owner observes.
    private let watches = Mutex<[String: VaultLeaseWatch]>([:])
    /// The monotonic clock by which they are observed.
    private let elapsed: @Sendable () -> Duration
    /// A check in every transaction, in addition to that when the connection is opened.
    private let require: Requirement
    /// An additional operation in the transaction of every change.
    private let alongside: Addition
    /// Finds what Apple has reported about users, at the begin of every change.
    private let notices: NoticeSearch

    /// Finds what Apple has reported about users, and prevents further reports until the
    /// transaction ends.
    package typealias NoticeSearch =
        @Sendable (any Database, [VaultUser]) throws(DatabaseFailure) -> [VaultNotice]

    /// An additional operation in the transaction of a change, which has been written.
    package typealias Addition =
        @Sendable (any Database, VaultChanges) throws(DatabaseFailure) -> Void

    /// Fails unless a transaction may use the tables.
    package typealias Requirement = @Sendable (any Database, Access) throws(DatabaseFailure) -> Void

    /// Loads the library and connects at the first call.
    convenience init(
        _ connector: any DatabaseConnector, schema: Schema = .vault, secrets: [SecretTable] = [],
        others: [Schema] = [],
        elapsed: @escaping @Sendable () -> Duration = Timekeeper.system.elapsed
    ) {
        let name = connector.name
        self.init(
            connector, ConnectionPool(connector, schema), schema, secrets: secrets,
            others: others, inquiries: ConnectionPool(connector, schema), elapsed: elapsed,
            requiring: { database, access throws(DatabaseFailure) in
                try schema.require(for: access, in: database, name)
            })
    }

    /// A store that shares a connection.
    package init(
        _ connector: any DatabaseConnector, _ pool: ConnectionPool, _ schema: Schema = .vault,
        secrets: [SecretTable] = [], others: [Schema] = [],
        inquiries: ConnectionPool? = nil,
        elapsed: @escaping @Sendable () -> Duration = Timekeeper.system.elapsed,
        requiring require: @escaping Requirement,
        alongside: @escaping Addition = { _, _ in },
        notices: @escaping NoticeSearch = { _, _ in [] }
    ) {
        (self.connector, self.pool, self.elapsed) = (connector, pool, elapsed)
        (self.schema, self.secrets, self.others) = (schema, secrets, others)
        self.inquiries = inquiries ?? pool
        (self.require, self.alongside, self.notices) = (require, alongside, notices)
    }

    private func transaction<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(StoreError) -> Result {
        let require = require
        return try pool.transaction(access) { database throws(DatabaseFailure) in
            try require(database, access)
            return try body(database)
        }
    }

    package func requireChangeable() throws(StoreError) {
        let require = require
        try pool.transaction(.reading) { database throws(DatabaseFailure) in
            try require(database, .writing)
        }
    }

    package func create(_ key: VaultKeyCheck) throws(StoreError) {
        let (schema, name) = (schema, connector.name)
        try pool.create { database throws(DatabaseFailure) in
            try schema.create(in: database, name)
            try database.insert(key)
        }
    }

    package func keyChecks() throws(StoreError) -> [VaultKeyCheck] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.keyChecks()
        }
    }

    package func requireWhole() throws(StoreError) {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try Schema.vault.requireWhole(in: database)
        }
    }

    package func register(_ key: VaultKeyCheck) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.insert(key)
        }
    }

    package func records(of scope: VaultScope) throws(StoreError) -> VaultPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.records(of: scope)
        }
    }

    package func records(
        _ filter: VaultFilter, after key: VaultRowKey?, limit: Int
    ) throws(StoreError) -> VaultPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.page(filter, after: key, limit)
        }
    }

    package func clients() throws(StoreError) -> [ClientID] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.clients()
        }
    }

    package func counts(of clientID: ClientID?) throws(StoreError) -> [VaultState: Int] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.counts(VaultFilter(clientID: clientID))
        }
    }

    package func change(
        _ scope: VaultScope, releasing released: VaultRelease?,
        _ decide: (VaultPage) throws(StoreError) -> VaultChanges
    ) throws(StoreError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            let notices = try notices(database, scope.users)
            var page = try database.records(of: scope, isLocking: true)
            page.notices = notices
            let changes = try lifting { () throws(StoreError) in try decide(page) }
            let before = Dictionary(
                page.records.map { ($0.id, $0.sealed) }, uniquingKeysWith: { first, _ in first })
            let sealed = changes.updates.filter { update in
                update.replaced.map { before[$0] != update.record.sealed } ?? true
            }
            if !sealed.isEmpty {
                try database.requireNewest(among: Set(sealed.map(\.record.keyNumber)))
            }
            try database.write(changes, releasing: released)
            try alongside(database, changes)
        }
    }

    package func claim(
        _ filter: VaultFilter, limit: Int, for lease: Lease,
        _ change: (VaultRecord) -> VaultClaimChange
    ) throws(StoreError) -> VaultClaimed {
        let run = runs.withLock { $0[lease.owner] }
        let watch = watches.withLock { $0[lease.owner] } ?? VaultLeaseWatch()
        let (claimed, next, seen) = try transaction(.writing) { database throws(DatabaseFailure) in
            let run =
                if let run { run } else {
                    ClaimRun(
                        owner: lease.owner, isRevoking: lease.isRevoking,
                        start: try database.moment())
                }
            let search = try ClaimSearch(database, filter, limit, for: run)
            let page = VaultPage(search.rows)
            var (watch, verdict, freed) = (watch, VaultLeaseWatch.Verdict(), 0)
            if search.isComplete {
                freed = try database.freeRowsOfTheFuture(
                    filter, besides: lease.owner, longestStretch)
                let strays = try database.strayLeases(
                    filter, besides: lease.owner, longestStretch, isLocking: true)
                verdict = watch.look(at: strays, at: elapsed())
                try database.free(verdict.void.map(\.row))
            }
            let changes = page.records.map(change)
            try database.lease(changes.map(\.record), to: lease)
            try database.lease(page.damaged, to: lease)
            try database.insert(changes.compactMap(\.entry))
            let isComplete =
                search.isComplete && freed == 0 && verdict.void.isEmpty && verdict.wait == nil
            let claimed = VaultClaimed(
                records: page.records.sorted { $0.id < $1.id }, damaged: page.damaged,
                isComplete: isComplete, remaining: lease.remaining, watch: verdict)
            return (claimed, search.run, watch)
        }
        runs.withLock { $0[lease.owner] = next }
        watches.withLock { $0[lease.owner] = seen }
        return claimed
    }

    package func renew(_ ids: [VaultRecordID], for lease: Lease) throws(StoreError) -> VaultRenewal
    {
        try transaction(.writing) { database throws(DatabaseFailure) in
            VaultRenewal(
                held: try database.renew(Set(ids).sorted(), for: lease),
                remaining: lease.remaining)
        }
    }

    package func held(
        _ ids: [VaultRecordID], by owner: String
    ) throws(StoreError) -> Set<VaultRecordID> {
        let require = require
        return try inquiries.transaction(.reading) { database throws(DatabaseFailure) in
            try require(database, .reading)
            return try database.held(ids, by: owner)
        }
    }

    package func leasedByOthers(
        than owner: String, _ filter: VaultFilter
    ) throws(StoreError) -> VaultLeasedByOthers {
        try transaction(.reading) { database throws(DatabaseFailure) in
            let (count, seconds) = try database.leased(by: owner, filter)
            return VaultLeasedByOthers(count: count, remaining: .seconds(seconds))
        }
    }

    package func history(
        _ filter: VaultHistoryFilter, after position: VaultHistoryPosition?, limit: Int
    ) throws(StoreError) -> VaultHistoryPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.history(filter, after: position, limit)
        }
    }

    package func lastStates(
        of ids: [VaultRecordID]
    ) throws(StoreError) -> [VaultRecordID: VaultPastState] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.lastStates(of: ids)
        }
    }

    package func historyCount(
        since start: NumericDate?, until end: NumericDate?
    ) throws(StoreError) -> Int {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.historyCount(VaultHistoryFilter(since: start, until: end))
        }
    }

    package func pruneHistory(before moment: NumericDate, limit: Int) throws(StoreError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.pruneHistory(before: moment, limit)
        }
    }

    package func weaknesses() throws(StoreError) -> [StoreWeakness] {
        do throws(DatabaseFailure) { return try connector.weaknesses() } catch { throw error.error }
    }

    package func secrets(
        notSealedWith number: Int?, after row: VaultSecret.Row?, limit: Int
    ) throws(StoreError) -> VaultSecretPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.secrets(in: secrets, notSealedWith: number, after: row, limit)
        }
    }

    package func replace(_ changes: [VaultSecretChange]) throws(StoreError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.replace(changes, in: secrets)
        }
    }

    package func faults() throws(StoreError) -> [VaultFault] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            var absences = try schema.absences(in: database)
            for other in others {
                absences += try other.absences(in: database, isOptional: true)
            }
            for schema in [schema] + others {
                absences += try schema.refusals(of: ["SELECT"], in: database)
            }
            let further =
                try database.faults(of: ["vault_token", "vault_key", "vault_history"])
                + database.unknownKeys()
                + database.strayLeases(VaultFilter(), besides: "", 1000).map(\.fault)
            return absences + further.map { VaultFault($0) }
        }
    }
}

extension VaultStrayLease {
    /// The lease as a fault of the database.
    fileprivate var fault: String {
        let date = NumericDate(end)
        return
            "\(row) is leased until \(date.isWritable ? date.rfc3339 : "\(end)"), later than any "
            + "lease: a clock was wrong, or the row was changed; a batch on the vault takes it over "
            + "after three minutes"
    }
}
