package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords
internal import Synchronization

/// A vault's records in memory. The test advances its clock.
package final class MemoryVaultStore: VaultStore {
    fileprivate struct Row {
        var record: VaultRecord
        var lease = Held()
    }

    fileprivate struct Held {
        var owner: String?
        var until = Duration.zero
        var givenBack: Duration?

        mutating func end(of owner: String, at now: Duration) {
            guard self.owner == owner else { return }
            (until, givenBack) = (.zero, now)
        }
    }

    fileprivate struct State {
        var keys: [VaultKeyCheck] = []
        var rows: [VaultRecordID: Row] = [:]
        var damaged: [VaultRowKey: (row: DamagedRecord, lease: Held)] = [:]
        var history: [(position: VaultHistoryPosition, entry: VaultHistoryEntry)] = []
        var entries = 0
        var beginnings: [String: Duration] = [:]
        var watches: [String: VaultLeaseWatch] = [:]
        var secrets: [VaultSecret] = []
        var now = Duration.zero
        var failure: StoreError?
        var callsBeforeFailure = 0
        var notices: [VaultNotice] = []
    }

    private let state = Mutex(State())

    /// No vault yet.
    package init() {}

    /// Lets leases grow older.
    package func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    /// Every call from now on fails, but for the first few; nil ends it.
    package func fail(with error: StoreError?, after calls: Int = 0) {
        state.withLock { ($0.failure, $0.callsBeforeFailure) = (error, calls) }
    }

    /// Changes what is stored of a user, unnoticed by the vault.
    package func tamper(_ user: VaultUser, _ change: (inout VaultRecord) -> Void) {
        state.withLock { state in
            for id in state.rows.keys where id.user == user {
                if var record = state.rows[id]?.record {
                    change(&record)
                    state.rows[id]?.record = record
                }
            }
        }
    }

    /// Puts a record in the place of another, unnoticed by the vault.
    package func replace(_ id: VaultRecordID, with record: VaultRecord?) {
        state.withLock { state in
            state.rows[id] = nil
            if let record { state.rows[record.id] = Row(record: record) }
        }
    }

    /// Adds a row that cannot be read.
    package func damage(_ row: DamagedRecord) {
        state.withLock { $0.damaged[row.key] = (row, Held()) }
    }

    /// Leases the tokens of a user to a run that is gone, and whose clock was ahead.
    package func strand(_ user: VaultUser, leasedFor duration: Duration) {
        state.withLock { state in
            for id in state.rows.keys where id.user == user {
                state.rows[id]?.lease = Held(owner: "gone", until: state.now + duration)
            }
        }
    }

    /// Replaces what is sealed outside the records.
    package func keep(_ secrets: [VaultSecret]) { state.withLock { $0.secrets = secrets } }

    /// See ``VaultStore``.
    package func secrets(
        notSealedWith number: Int?, after row: VaultSecret.Row?, limit: Int
    ) throws(StoreError) -> VaultSecretPage {
        try transaction { state throws(StoreError) in
            let start = state.secrets.firstIndex { $0.row == row }.map { $0 + 1 } ?? 0
            var page = VaultSecretPage()
            page.secrets = state.secrets[start...].filter {
                number == nil || $0.sealed.keyNumber != number
            }
            page.next = page.secrets.last?.row
            return page
        }
    }

    /// See ``VaultStore``.
    package func replace(_ changes: [VaultSecretChange]) throws(StoreError) -> Int {
        try transaction { state throws(StoreError) in
            var count = 0
            for change in changes {
                for index in state.secrets.indices where state.secrets[index] == change.old {
                    count += 1
                    state.secrets[index] = VaultSecret(
                        row: change.old.row, place: change.old.place, sealed: change.new)
                }
            }
            return count
        }
    }

    /// See ``VaultStore``.
    package func create(_ key: VaultKeyCheck) throws(StoreError) {
        try transaction(isOpen: false) { state throws(StoreError) in
            guard state.keys.isEmpty else {
                throw StoreError(.alreadyInitialized, "there is a vault already")
            }
            state.keys = [key]
        }
    }

    /// See ``VaultStore``.
    package func keyChecks() throws(StoreError) -> [VaultKeyCheck] {
        try transaction { state throws(StoreError) in state.keys }
    }

    /// It is always whole.
    package func requireWhole() {}

    /// See ``VaultStore``.
    package func register(_ key: VaultKeyCheck) throws(StoreError) {
        try transaction { state throws(StoreError) in
            guard !state.keys.contains(where: { $0.number == key.number }) else { return }
            state.keys.append(key)
            state.keys.sort { $0.number < $1.number }
        }
    }

    /// See ``VaultStore``.
    package func records(of scope: VaultScope) throws(StoreError) -> VaultPage {
        try transaction { state throws(StoreError) in state.page(of: scope) }
    }

    /// See ``VaultStore``.
    package func records(
        _ filter: VaultFilter, after key: VaultRowKey?, limit: Int
    ) throws(StoreError) -> VaultPage {
        try transaction { state throws(StoreError) in
            let records = state.rows.values.map(\.record).filter { state.matches($0, filter) }
            let isMet = filter.states.isEmpty && filter.clientID == nil
            return VaultPage(records, isMet ? state.damaged.values.map(\.row) : [], key, limit)
        }
    }

    /// See ``VaultStore``.
    package func clients() throws(StoreError) -> [ClientID] {
        try transaction { state throws(StoreError) in
            Set(state.rows.keys.map(\.user.clientID)).sorted {
                $0.rawValue.utf8.lexicographicallyPrecedes($1.rawValue.utf8)
            }
        }
    }

    /// See ``VaultStore``.
    package func counts(of clientID: ClientID?) throws(StoreError) -> [VaultState: Int] {
        try transaction { state throws(StoreError) in
            let filter = VaultFilter(clientID: clientID)
            return Dictionary(
                state.rows.values.filter { filter.matches($0.record) }.map { ($0.record.state, 1) },
                uniquingKeysWith: +)
        }
    }

    /// See ``VaultStore``.
    package func change(
        _ scope: VaultScope, releasing released: VaultRelease?,
        _ decide: (VaultPage) throws(StoreError) -> VaultChanges
    ) throws(StoreError) {
        try transaction { state throws(StoreError) in
            var page = state.page(of: scope)
            page.notices = state.notices
            let changes = try decide(page)
            for key in changes.removals {
                state.damaged[key] = nil
                for id in state.rows.keys where VaultRowKey(id) == key { state.rows[id] = nil }
            }
            for update in changes.updates { try state.write(update) }
            if let released { state.release(released, changes.updates) }
            state.add(changes.history)
            for user in changes.erased { state.erase(user) }
        }
    }

    /// What Apple has reported, as every change sees it from now on.
    package func report(_ notices: [VaultNotice]) { state.withLock { $0.notices = notices } }

    /// See ``VaultStore``.
    package func claim(
        _ filter: VaultFilter, limit: Int, for lease: Lease,
        _ change: (VaultRecord) -> VaultClaimChange
    ) throws(StoreError) -> VaultClaimed {
        try transaction { state throws(StoreError) in
            let start = state.beginnings[lease.owner] ?? state.now
            state.beginnings[lease.owner] = start
            let duration = min(lease.duration, Lease.longest)
            let new = Held(owner: lease.owner, until: state.now + duration)
            let isFree = { [now = state.now] (old: Held) in
                let isMine = lease.isRevoking && old.owner?.hasPrefix(Lease.checkPrefix) == true
                return (old.until <= now || isMine) && old.owner != lease.owner
                    && (isMine || old.givenBack ?? start <= start)
            }
            let free = state.rows.values.filter {
                isFree($0.lease) && state.matches($0.record, filter)
            }
            let damaged = state.damaged.values.filter { isFree($0.lease) }.map(\.row)
            let page = VaultPage(free.map(\.record), damaged, nil, limit)
            for record in page.records {
                let change = change(record)
                state.rows[record.id] = Row(record: change.record, lease: new)
                state.add([change.entry].compactMap(\.self))
            }
            for row in page.damaged { state.damaged[row.key]?.lease = new }
            let verdict = page.isEmpty ? state.watch(filter, for: lease.owner) : .init()
            return VaultClaimed(
                records: page.records, damaged: page.damaged,
                isComplete: page.isEmpty && verdict == .init(), remaining: duration, watch: verdict)
        }
    }

    /// See ``VaultStore``.
    package func renew(
        _ ids: [VaultRecordID], for lease: Lease
    ) throws(StoreError) -> VaultRenewal {
        try transaction { state throws(StoreError) in
            let held = state.held(ids, by: lease.owner)
            for id in held { state.rows[id]?.lease.until = state.now + lease.duration }
            return VaultRenewal(held: held, remaining: lease.duration)
        }
    }

    /// See ``VaultStore``.
    package func held(
        _ ids: [VaultRecordID], by owner: String
    ) throws(StoreError) -> Set<VaultRecordID> {
        try transaction { state throws(StoreError) in state.held(ids, by: owner) }
    }

    /// See ``VaultStore``.
    package func leasedByOthers(
        than owner: String, _ filter: VaultFilter
    ) throws(StoreError) -> VaultLeasedByOthers {
        try transaction { state throws(StoreError) in
            let leases = state.rows.values.filter {
                $0.lease.until > state.now && $0.lease.owner != owner
                    && state.matches($0.record, filter)
            }.map(\.lease.until)
            return VaultLeasedByOthers(
                count: leases.count, remaining: (leases.max() ?? state.now) - state.now)
        }
    }

    /// See ``VaultStore``.
    package func history(
        _ filter: VaultHistoryFilter, after position: VaultHistoryPosition?, limit: Int
    ) throws(StoreError) -> VaultHistoryPage {
        try transaction { state throws(StoreError) in
            let ids = filter.userID.map { state.allIDs(of: $0, filter.clientID) } ?? []
            let found = state.history.sorted { $0.position < $1.position }.filter { row in
                filter.matches(row.entry, ids: ids) && position.map { $0 < row.position } ?? true
            }.prefix(limit)
            return VaultHistoryPage(entries: found.map(\.entry), next: found.last?.position)
        }
    }

    /// See ``VaultStore``.
    package func lastStates(
        of ids: [VaultRecordID]
    ) throws(StoreError) -> [VaultRecordID: VaultPastState] {
        try transaction { state throws(StoreError) in
            let ids = Set(ids)
            var found: [VaultRecordID: VaultPastState] = [:]
            for (_, entry) in state.history.sorted(by: { $0.position < $1.position }) {
                let id = VaultRecordID(entry.user, entry.fingerprint)
                guard ids.contains(id), let past = entry.event.state else { continue }
                found[id] = VaultPastState(past, since: entry.at)
            }
            return found
        }
    }

    /// See ``VaultStore``.
    package func historyCount(
        since start: NumericDate?, until end: NumericDate?
    ) throws(StoreError) -> Int {
        try transaction { state throws(StoreError) in
            let filter = VaultHistoryFilter(since: start, until: end)
            return state.history.count { filter.matches($0.entry, ids: []) }
        }
    }

    /// See ``VaultStore``.
    package func pruneHistory(before moment: NumericDate, limit: Int) throws(StoreError) -> Int {
        try transaction { state throws(StoreError) in
            let old = Set(
                state.history.filter { $0.entry.at < moment }.map(\.position).sorted()
                    .prefix(limit))
            state.history.removeAll { old.contains($0.position) }
            return old.count
        }
    }

    /// See ``VaultStore``.
    package func faults() throws(StoreError) -> [VaultFault] { [] }

    /// All or nothing.
    private func transaction<Result>(
        isOpen: Bool = true, _ body: (inout State) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try state.withLock { state throws(StoreError) in
            if let failure = state.failure {
                guard state.callsBeforeFailure > 0 else { throw failure }
                state.callsBeforeFailure -= 1
            }
            guard !isOpen || !state.keys.isEmpty else {
                throw StoreError(.notInitialized, "there is no vault")
            }
            var changed = state
            let result = try body(&changed)
            state = changed
            return result
        }
    }
}

extension MemoryVaultStore.State {
    fileprivate func page(of scope: VaultScope) -> VaultPage {
        let keys: Set<VaultRowKey>
        switch scope {
        case .users(let users): keys = Set(users.map { VaultRowKey(before: $0) })
        case .tokens(let ids): keys = Set(ids.map { VaultRowKey($0) })
        }
        func contains(_ key: VaultRowKey) -> Bool {
            keys.contains(key) || keys.contains(key.withoutToken)
        }
        return VaultPage(
            rows.values.map(\.record).filter { contains(VaultRowKey($0.id)) },
            damaged.values.map(\.row).filter { contains($0.key) }, nil, .max)
    }

    fileprivate func held(_ ids: [VaultRecordID], by owner: String) -> Set<VaultRecordID> {
        Set(ids.filter { rows[$0]?.lease.owner == owner && rows[$0]?.lease.until ?? .zero > now })
    }

    /// Observes the leases that end too late, and ends the void ones.
    fileprivate mutating func watch(
        _ filter: VaultFilter, for owner: String
    ) -> VaultLeaseWatch.Verdict {
        let strays = rows.filter { row in
            row.value.lease.until > now + Lease.longest && row.value.lease.owner != owner
                && row.value.lease.givenBack == nil && matches(row.value.record, filter)
        }
        let verdict = watches[owner, default: VaultLeaseWatch()].look(
            at: strays.map { id, row in
                VaultStrayLease(
                    row: VaultRowKey(id), owner: Array((row.lease.owner ?? "").utf8),
                    end: Int(row.lease.until.components.seconds))
            }, at: now)
        let void = Set(verdict.void.map(\.row))
        for id in strays.keys where void.contains(VaultRowKey(id)) {
            rows[id]?.lease = .init()
        }
        return verdict
    }

    fileprivate func matches(_ record: VaultRecord, _ filter: VaultFilter) -> Bool {
        guard filter.isNewestOnly else { return filter.matches(record) }
        let others = rows.values.map(\.record).filter { $0.user == record.user }
        return filter.matches(record, among: others)
    }

    fileprivate mutating func write(_ update: VaultUpdate) throws(StoreError) {
        let record = update.record
        let old = update.replaced.flatMap { rows[$0] }
        let newest = keys.last?.number ?? 0
        if record.sealed != old?.record.sealed, record.keyNumber != newest {
            throw StoreError(
                record.keyNumber < newest ? .keySuperseded : .key,
                "the vault is encrypted with key \(newest) by now")
        }
        if let replaced = update.replaced {
            guard old != nil else { return }
            rows[replaced] = nil
        }
        guard rows[record.id] == nil else { throw StoreError(.damaged, "the record is there") }
        rows[record.id] = .init(record: record, lease: old?.lease ?? .init())
    }

    fileprivate mutating func release(_ released: VaultRelease, _ updates: [VaultUpdate]) {
        var rows = released.rows
        for update in updates {
            if let old = update.replaced, rows.contains(VaultRowKey(old)) {
                rows.insert(VaultRowKey(update.record.id))
            }
        }
        for id in self.rows.keys where rows.contains(VaultRowKey(id)) {
            self.rows[id]?.lease.end(of: released.owner, at: now)
        }
        for key in damaged.keys where rows.contains(key) {
            damaged[key]?.lease.end(of: released.owner, at: now)
        }
    }

    fileprivate mutating func add(_ new: [VaultHistoryEntry]) {
        for entry in new {
            entries += 1
            history.append((VaultHistoryPosition(at: entry.at.seconds, number: entries), entry))
        }
    }

    fileprivate mutating func erase(_ user: VaultUser) {
        let ids = allIDs(of: user.userID, user.clientID)
        let filter = VaultHistoryFilter(userID: user.userID, clientID: user.clientID)
        history.removeAll { filter.matches($0.entry, ids: ids) }
    }

    /// All ids that a user has had.
    fileprivate func allIDs(of userID: UserID, _ clientID: ClientID?) -> Set<UserID> {
        var ids: Set<UserID> = [userID]
        while true {
            let found = history.map(\.entry).filter {
                clientID == nil || $0.user.clientID == clientID
            }.flatMap { entry -> [UserID] in
                guard let new = entry.newUserID else { return [] }
                return ids.contains(new) || ids.contains(entry.user.userID)
                    ? [new, entry.user.userID] : []
            }
            guard !ids.isSuperset(of: found) else { return ids }
            ids.formUnion(found)
        }
    }
}

extension VaultPage {
    /// The first of some rows in their order.
    fileprivate init(
        _ records: [VaultRecord], _ damaged: [DamagedRecord], _ after: VaultRowKey?, _ limit: Int
    ) {
        let keys = (records.map { VaultRowKey($0.id) } + damaged.map(\.key)).sorted()
            .filter { key in after.map { $0 < key } ?? true }.prefix(limit)
        let chosen = Set(keys)
        self.init(
            records: records.filter { chosen.contains(VaultRowKey($0.id)) }
                .sorted { $0.id < $1.id },
            damaged: damaged.filter { chosen.contains($0.key) }.sorted { $0.key < $1.key },
            next: keys.last)
    }
}
