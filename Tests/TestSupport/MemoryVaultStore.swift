public import SignInWithApple
internal import Synchronization

/// A vault's records in memory. Its clock is turned by the test.
public final class MemoryVaultStore: VaultStore {
    private struct Row {
        var record: VaultRecord
        var owner: String?
        var leasedUntil = Duration.zero
        var givenBack: Duration?
    }

    private struct State {
        var keys: [VaultKeyCheck] = []
        var rows: [VaultUser: Row] = [:]
        var beginnings: [String: Duration] = [:]
        var now = Duration.zero
        var failure: VaultError?
        var callsBeforeFailure = 0
    }

    private let state = Mutex(State())

    /// No vault yet.
    public init() {}

    /// Lets leases grow older.
    public func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    /// Every call from now on fails, but for the first few; nil ends it.
    public func fail(with error: VaultError?, after calls: Int = 0) {
        state.withLock { ($0.failure, $0.callsBeforeFailure) = (error, calls) }
    }

    /// Changes what is stored behind everybody's back.
    public func tamper(_ user: VaultUser, _ change: (inout VaultRecord) -> Void) {
        state.withLock { state in
            guard var row = state.rows[user] else { return }
            change(&row.record)
            state.rows[user] = row
        }
    }

    /// See ``VaultStore``.
    public func create(_ key: VaultKeyCheck) throws(VaultError) {
        try transaction(isOpen: false) { state throws(VaultError) in
            guard state.keys.isEmpty else {
                throw VaultError(.alreadyInitialized, "there is a vault already")
            }
            state.keys = [key]
        }
    }

    /// See ``VaultStore``.
    public func keyChecks() throws(VaultError) -> [VaultKeyCheck] {
        try transaction { state throws(VaultError) in state.keys }
    }

    /// See ``VaultStore``.
    public func register(_ key: VaultKeyCheck) throws(VaultError) {
        try transaction { state throws(VaultError) in
            guard !state.keys.contains(where: { $0.number == key.number }) else { return }
            state.keys.append(key)
            state.keys.sort { $0.number < $1.number }
        }
    }

    /// See ``VaultStore``.
    public func record(of user: VaultUser) throws(VaultError) -> VaultRecord? {
        try transaction { state throws(VaultError) in state.rows[user]?.record }
    }

    /// See ``VaultStore``.
    public func records(
        _ filter: VaultFilter, after user: VaultUser?, limit: Int
    ) throws(VaultError) -> [VaultRecord] {
        try transaction { state throws(VaultError) in
            Array(
                state.rows.values.map(\.record)
                    .filter {
                        filter.matches($0) && (user.map { [at = $0.user] in $0 < at } ?? true)
                    }
                    .sorted { $0.user < $1.user }.prefix(limit))
        }
    }

    /// See ``VaultStore``.
    public func counts(of clientID: ClientID?) throws(VaultError) -> [VaultState: Int] {
        try transaction { state throws(VaultError) in
            let filter = VaultFilter(clientID: clientID)
            return Dictionary(
                state.rows.values.filter { filter.matches($0.record) }.map { ($0.record.state, 1) },
                uniquingKeysWith: +)
        }
    }

    /// See ``VaultStore``.
    public func change(
        _ users: [VaultUser], releasedBy owner: String?,
        _ decide: (VaultUser, VaultRecord?) throws(VaultError) -> VaultChange
    ) throws(VaultError) {
        try transaction { state throws(VaultError) in
            for user in users {
                var row = state.rows[user]
                switch try decide(user, row?.record) {
                case .keep: break
                case .put(let record):
                    if record.sealed != row?.record.sealed, let newest = state.keys.last?.number,
                        record.keyNumber < newest
                    {
                        throw VaultError(
                            .keySuperseded, "the vault seals with key \(newest) by now")
                    }
                    row = Row(
                        record: record, owner: row?.owner, leasedUntil: row?.leasedUntil ?? .zero,
                        givenBack: row?.givenBack)
                case .remove: row = nil
                }
                if let owner, row?.owner == owner {
                    row?.leasedUntil = .zero
                    row?.givenBack = state.now
                }
                state.rows[user] = row
            }
        }
    }

    /// See ``VaultStore``.
    public func claim(
        _ filter: VaultFilter, limit: Int, for lease: VaultLease,
        _ change: (VaultRecord) -> VaultRecord
    ) throws(VaultError) -> [VaultRecord] {
        try transaction { state throws(VaultError) in
            let start = state.beginnings[lease.owner] ?? state.now
            state.beginnings[lease.owner] = start
            let claimed = state.rows.values.filter { row in
                filter.matches(row.record) && row.leasedUntil <= state.now
                    && row.owner != lease.owner && row.givenBack ?? start <= start
            }.map(\.record).sorted { $0.user < $1.user }.prefix(limit)
            for record in claimed {
                state.rows[record.user] = Row(
                    record: change(record), owner: lease.owner,
                    leasedUntil: state.now + lease.duration)
            }
            return Array(claimed)
        }
    }

    /// See ``VaultStore``.
    public func faults() throws(VaultError) -> [String] { [] }

    /// All or nothing.
    private func transaction<Result>(
        isOpen: Bool = true, _ body: (inout State) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try state.withLock { state throws(VaultError) in
            if let failure = state.failure {
                guard state.callsBeforeFailure > 0 else { throw failure }
                state.callsBeforeFailure -= 1
            }
            guard !isOpen || !state.keys.isEmpty else {
                throw VaultError(.notInitialized, "there is no vault")
            }
            var changed = state
            let result = try body(&changed)
            state = changed
            return result
        }
    }
}
