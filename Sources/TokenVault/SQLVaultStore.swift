internal import SignInWithApple
internal import Synchronization

/// A vault in a database that speaks SQL.
final class SQLVaultStore: VaultStore {
    private let place: any DatabasePlace
    private let session: Session
    /// When each owner claimed first, by the database's clock in milliseconds.
    private let beginnings = Mutex<[String: Int]>([:])

    /// Nothing is loaded or connected before the first call.
    init(_ place: any DatabasePlace, schema: Schema = .current) {
        self.place = place
        session = Session(place, schema)
    }

    func create(_ key: VaultKeyCheck) throws(VaultError) {
        try session.create { database throws(DatabaseFailure) in try database.insert(key) }
    }

    func keyChecks() throws(VaultError) -> [VaultKeyCheck] {
        try session.transaction(.reading) { database throws(DatabaseFailure) in
            try database.keyChecks()
        }
    }

    func register(_ key: VaultKeyCheck) throws(VaultError) {
        try session.transaction(.writing) { database throws(DatabaseFailure) in
            try database.insert(key)
        }
    }

    func record(of user: VaultUser) throws(VaultError) -> VaultRecord? {
        try session.transaction(.reading) { database throws(DatabaseFailure) in
            try database.records(of: [user]).first
        }
    }

    func records(
        _ filter: VaultFilter, after user: VaultUser?, limit: Int
    ) throws(VaultError) -> [VaultRecord] {
        try session.transaction(.reading) { database throws(DatabaseFailure) in
            try database.page(filter, behind: user, limit)
        }
    }

    func counts(of clientID: ClientID?) throws(VaultError) -> [VaultState: Int] {
        try session.transaction(.reading) { database throws(DatabaseFailure) in
            try database.counts(VaultFilter(clientID: clientID))
        }
    }

    func change(
        _ users: [VaultUser], releasedBy owner: String?,
        _ decide: (VaultUser, VaultRecord?) throws(VaultError) -> VaultChange
    ) throws(VaultError) {
        let inOrder = Set(users).sorted()
        try session.transaction(.writing) { database throws(DatabaseFailure) in
            let found = try database.records(of: inOrder, isLocking: true).map { ($0.user, $0) }
            let before = Dictionary(found, uniquingKeysWith: { first, _ in first })
            var after = before
            for user in users {
                switch try lifting({ () throws(VaultError) in try decide(user, after[user]) }) {
                case .keep: break
                case .put(let record): after[user] = record
                case .remove: after[user] = nil
                }
            }
            let sealed = after.values.filter { $0.sealed != before[$0.user]?.sealed }
            if let oldest = sealed.map(\.keyNumber).min() {
                try database.requireNewest(key: oldest)
            }
            try database.write(
                inOrder.map { Change(user: $0, before: before[$0], after: after[$0]) },
                releasedBy: owner)
        }
    }

    func claim(
        _ filter: VaultFilter, limit: Int, for lease: VaultLease,
        _ change: (VaultRecord) -> VaultRecord
    ) throws(VaultError) -> [VaultRecord] {
        try session.transaction(.writing) { database throws(DatabaseFailure) in
            let now = try database.moment()
            let start = beginnings.withLock { beginnings in
                defer { beginnings[lease.owner] = beginnings[lease.owner] ?? now }
                return beginnings[lease.owner] ?? now
            }
            let claimed = try database.free(filter, limit, owner: lease.owner, since: start)
            try database.lease(claimed.map(change), to: lease)
            return claimed.sorted { $0.user < $1.user }
        }
    }

    func weaknesses() throws(VaultError) -> [String] {
        do throws(DatabaseFailure) { return try place.weaknesses() } catch { throw error.error }
    }

    func faults() throws(VaultError) -> [String] {
        try session.transaction(.reading) { database throws(DatabaseFailure) in
            try database.faults()
        }
    }
}
