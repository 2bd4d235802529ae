internal import JOSE
internal import Lifecycle
internal import Synchronization

/// A vault in an SQL database.
final class SQLVaultStore: VaultStore {
    private let connector: any DatabaseConnector
    private let pool: ConnectionPool
    /// The progress of each owner's claims.
    private let runs = Mutex<[String: ClaimRun]>([:])
    /// The leases that each owner observes.
    private let watches = Mutex<[String: VaultLeaseWatch]>([:])
    /// The monotonic clock by which they are observed.
    private let elapsed: @Sendable () -> Duration
    /// A check in every transaction, in addition to that when the connection is opened.
    private let require: Requirement
    /// An additional operation in the transaction of every change.
    private let alongside: @Sendable (any Database) throws(DatabaseFailure) -> Void
    /// Finds what Apple has reported about users, at the begin of every change.
    private let notices: NoticeSearch

    /// Finds what Apple has reported about users, and prevents further reports until the
    /// transaction ends.
    typealias NoticeSearch =
        @Sendable (any Database, [VaultUser]) throws(DatabaseFailure) -> [VaultNotice]

    /// Fails unless a transaction may use the tables.
    typealias Requirement = @Sendable (any Database, Access) throws(DatabaseFailure) -> Void

    /// Loads the library and connects at the first call.
    convenience init(
        _ connector: any DatabaseConnector, schema: Schema = .vault,
        elapsed: @escaping @Sendable () -> Duration = Timekeeper.system.elapsed
    ) {
        let name = connector.name
        self.init(
            connector, ConnectionPool(connector, schema), elapsed: elapsed,
            requiring: { database, access throws(DatabaseFailure) in
                try schema.require(for: access, in: database, name)
            })
    }

    /// A store that shares a connection.
    init(
        _ connector: any DatabaseConnector, _ pool: ConnectionPool,
        elapsed: @escaping @Sendable () -> Duration = Timekeeper.system.elapsed,
        requiring require: @escaping Requirement,
        alongside: @escaping @Sendable (any Database) throws(DatabaseFailure) -> Void = { _ in },
        notices: @escaping NoticeSearch = { _, _ in [] }
    ) {
        (self.connector, self.pool, self.elapsed) = (connector, pool, elapsed)
        (self.require, self.alongside, self.notices) = (require, alongside, notices)
    }

    private func transaction<Result: Sendable>(
        _ access: Access, _ body: (any Database) throws(DatabaseFailure) -> Result
    ) throws(VaultError) -> Result {
        let require = require
        return try pool.transaction(access) { database throws(DatabaseFailure) in
            try require(database, access)
            return try body(database)
        }
    }

    func requireChangeable() throws(VaultError) {
        let require = require
        try pool.transaction(.reading) { database throws(DatabaseFailure) in
            try require(database, .writing)
        }
    }

    func create(_ key: VaultKeyCheck) throws(VaultError) {
        try pool.create { database throws(DatabaseFailure) in try database.insert(key) }
    }

    func keyChecks() throws(VaultError) -> [VaultKeyCheck] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.keyChecks()
        }
    }

    func register(_ key: VaultKeyCheck) throws(VaultError) {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.insert(key)
        }
    }

    func records(of users: [VaultUser]) throws(VaultError) -> VaultPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.records(of: users.inOrder)
        }
    }

    func records(
        _ filter: VaultFilter, after key: VaultRowKey?, limit: Int
    ) throws(VaultError) -> VaultPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.page(filter, after: key, limit)
        }
    }

    func clients() throws(VaultError) -> [ClientID] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.clients()
        }
    }

    func counts(of clientID: ClientID?) throws(VaultError) -> [VaultState: Int] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.counts(VaultFilter(clientID: clientID))
        }
    }

    func change(
        _ users: [VaultUser], releasing released: VaultRelease?,
        _ decide: (VaultPage) throws(VaultError) -> VaultChanges
    ) throws(VaultError) {
        let inOrder = users.inOrder
        try transaction(.writing) { database throws(DatabaseFailure) in
            let notices = try notices(database, inOrder)
            var page = try database.records(of: inOrder, isLocking: true)
            page.notices = notices
            let changes = try lifting { () throws(VaultError) in try decide(page) }
            let before = Dictionary(
                page.records.map { ($0.id, $0.sealed) }, uniquingKeysWith: { first, _ in first })
            let sealed = changes.updates.filter { update in
                update.replaced.map { before[$0] != update.record.sealed } ?? true
            }
            if !sealed.isEmpty {
                try database.requireNewest(among: Set(sealed.map(\.record.keyNumber)))
            }
            try database.write(changes, releasing: released)
            try alongside(database)
        }
    }

    func claim(
        _ filter: VaultFilter, limit: Int, for lease: VaultLease,
        _ change: (VaultRecord) -> VaultClaimChange
    ) throws(VaultError) -> VaultClaimed {
        let run = runs.withLock { $0[lease.owner] }
        let watch = watches.withLock { $0[lease.owner] } ?? VaultLeaseWatch()
        let (claimed, next, seen) = try transaction(.writing) { database throws(DatabaseFailure) in
            let run =
                if let run { run } else {
                    ClaimRun(owner: lease.owner, start: try database.moment())
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

    func renew(_ ids: [VaultRecordID], for lease: VaultLease) throws(VaultError) -> VaultRenewal {
        try transaction(.writing) { database throws(DatabaseFailure) in
            VaultRenewal(
                held: try database.renew(Set(ids).sorted(), for: lease),
                remaining: lease.remaining)
        }
    }

    func leasedByOthers(
        than owner: String, _ filter: VaultFilter
    ) throws(VaultError) -> VaultLeasedByOthers {
        try transaction(.reading) { database throws(DatabaseFailure) in
            let (count, seconds) = try database.leased(by: owner, filter)
            return VaultLeasedByOthers(count: count, remaining: .seconds(seconds))
        }
    }

    func history(
        _ filter: VaultHistoryFilter, after position: VaultHistoryPosition?, limit: Int
    ) throws(VaultError) -> VaultHistoryPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.history(filter, after: position, limit)
        }
    }

    func lastStates(
        of ids: [VaultRecordID]
    ) throws(VaultError) -> [VaultRecordID: VaultPastState] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.lastStates(of: ids)
        }
    }

    func historyCount(
        since start: NumericDate?, until end: NumericDate?
    ) throws(VaultError) -> Int {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.historyCount(VaultHistoryFilter(since: start, until: end))
        }
    }

    func pruneHistory(before moment: NumericDate, limit: Int) throws(VaultError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.pruneHistory(before: moment, limit)
        }
    }

    func weaknesses() throws(VaultError) -> [VaultWeakness] {
        do throws(DatabaseFailure) { return try connector.weaknesses() } catch { throw error.error }
    }

    func secrets(
        notSealedWith number: Int?, after row: VaultSecret.Row?, limit: Int
    ) throws(VaultError) -> VaultSecretPage {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.secrets(notSealedWith: number, after: row, limit)
        }
    }

    func replace(_ changes: [VaultSecretChange]) throws(VaultError) -> Int {
        try transaction(.writing) { database throws(DatabaseFailure) in
            try database.replace(changes)
        }
    }

    func faults() throws(VaultError) -> [String] {
        try transaction(.reading) { database throws(DatabaseFailure) in
            try database.faults() + database.unknownKeys()
                + database.strayLeases(VaultFilter(), besides: "", 1000).map(\.fault)
        }
    }
}

extension [VaultUser] {
    /// The users without repetitions, in their order.
    fileprivate var inOrder: [VaultUser] {
        zip(self, dropFirst()).allSatisfy(<) ? self : Set(self).sorted()
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
