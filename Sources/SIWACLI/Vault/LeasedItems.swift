internal import JOSE
internal import Lifecycle
internal import SIWACrypto
internal import Synchronization

/// The items of a batch on a vault: leased in small groups, and noted in the vault before their
/// results are written.
///
/// A separate task uses the database, so that sending never waits for a disk.
final class LeasedItems: Sendable {
    private let claim: VaultClaim
    private let clocks: Clocks
    private let output: BatchOutput
    private let wake: WakeSignal
    private let noted: @Sendable () -> Void
    /// Wakes the task that uses the database.
    private let changes = WakeSignal()
    private let state: Mutex<State>

    private struct State {
        /// The vault, which decrypts records.
        var vault: Vault
        var records: LeasedRecords
        var failure: VaultError?
    }

    /// - Parameters:
    ///   - line: the number of the last existing line.
    ///   - wake: notified when there are more items.
    ///   - noted: called when results were written.
    init(
        _ claim: VaultClaim, after line: Int, _ clocks: Clocks, _ output: BatchOutput,
        _ wake: WakeSignal, noted: @escaping @Sendable () -> Void
    ) {
        (self.claim, self.clocks, self.output) = (claim, clocks, output)
        (self.wake, self.noted) = (wake, noted)
        state = Mutex(
            State(vault: claim.vault, records: LeasedRecords(size: claim.size, after: line)))
    }

    /// Why the vault became unavailable; nil if it did not.
    var failure: VaultError? { state.withLock { $0.failure } }

    /// The next item, if one is available; see ``BatchRun``.
    func next() -> BatchInput<TokenItem> {
        guard !output.isFull else { return .notYet }
        let now = clocks.timekeeper.elapsed()
        let input: BatchInput<TokenItem> = state.withLock { state in
            state.failure == nil ? state.records.next(at: now) : .end
        }
        changes.notify()
        return input
    }

    /// Takes the result of an item; it is written once the vault has noted it.
    func finish(_ item: TokenItem, _ event: NotedEvent?, _ report: ItemReport) {
        state.withLock { $0.records.finish(item, event, report) }
        changes.notify()
    }

    /// The time after which an item must not be sent; see ``BatchRun``. Half of the remaining lease
    /// is reserved for requests in flight.
    func deadline(of item: TokenItem) -> Duration {
        state.withLock { $0.records.deadline(of: item) }
    }

    /// Ends ``work()`` after all finished items are noted.
    func close() {
        state.withLock { $0.records.close() }
        changes.notify()
    }

    /// Leases, renews and notes, until ``close()``.
    func work() async {
        await withDiscardingTaskGroup { timers in
            timers.addTask { [changes, lease = claim.lease] in
                while (try? await Task.sleep(for: lease.duration / 8)) != nil { changes.notify() }
            }
            do throws(VaultError) {
                try await work(&timers)
            } catch {
                state.withLock { $0.failure = error }
                wake.notify()
            }
            timers.cancelAll()
        }
    }

    private func work(_ timers: inout DiscardingTaskGroup) async throws(VaultError) {
        while true {
            let seen = changes.count
            try renewLeases()
            if try !noteFinished(), try !leaseMore() {
                guard !state.withLock({ $0.records.isClosed }) else {
                    return try returnUnfinished()
                }
                startTimer(&timers)
                await changes.wait(after: seen)
            }
        }
    }
}

// The steps of work, each of which is a transaction.
extension LeasedItems {
    /// Renews the leases of the items that wait, are in flight, or are held by the brake.
    private func renewLeases() throws(VaultError) {
        let now = clocks.timekeeper.elapsed()
        let due = state.withLock { $0.records.dueForRenewal(at: now) }
        guard !due.isEmpty else { return }
        let renewed = try claim.vault.store.renew(Array(due.values), for: claim.lease)
        state.withLock { state in
            state.records.renewNext(at: now + claim.lease.duration / 4)
            state.records.take(renewed, of: due, until: now + renewed.remaining / 2)
        }
    }

    /// Notes the finished items, and writes their results. False if there is nothing to note yet.
    private func noteFinished() throws(VaultError) -> Bool {
        let group = state.withLock { $0.records.takeFinished() }
        guard !group.isEmpty else { return false }
        try claim.vault.note(
            group.compactMap { item in
                item.record.map {
                    VaultNote($0, item.event?.event, item.event?.details ?? VaultEventDetails())
                }
            },
            releasedBy: claim.lease.owner, at: clocks.now())
        for item in group {
            output.write(line: item.line, ItemName(id: item.record?.resultID), item.report)
        }
        noted()
        return true
    }

    /// Leases more records. False if there are enough, or none are left.
    private func leaseMore() throws(VaultError) -> Bool {
        guard state.withLock({ $0.records.isWantingMore }) else { return false }
        let now = clocks.timekeeper.elapsed()
        let claimed = try state.withLock { $0.vault }.claim(
            claim.filter, limit: claim.size, for: claim.lease, intent: claim.intent,
            at: clocks.now())
        let vault = state.withLock { $0.vault }.renewed(for: claimed.records, claim.keys)
        state.withLock { state in
            state.vault = vault
            if claimed.isComplete { state.records.end() }
            for row in claimed.damaged { state.records.add(row) }
            if state.records.isEmpty {
                state.records.renewNext(at: now + claim.lease.duration / 4)
            }
            for record in claimed.records {
                state.records.add(record, until: now + claimed.remaining / 2) {
                    line throws(VaultError) in
                    TokenItem(
                        try vault.sendableToken(of: record), line: line, id: record.resultID,
                        clientID: record.user.clientID,
                        isInDoubt: record.state == .revoking && claim.intent == .revocationBegun)
                }
            }
        }
        wake.notify()
        return true
    }

    /// Releases unfinished and unreadable records, so that other runs can lease them immediately.
    private func returnUnfinished() throws(VaultError) {
        let left = state.withLock { $0.records.takeUnfinished() }
        let owner = claim.lease.owner
        if !left.records.isEmpty {
            try claim.vault.note(
                left.records.map { VaultNote($0, nil) }, releasedBy: owner, at: clocks.now())
        }
        if !left.damaged.isEmpty { try claim.vault.release(left.damaged, heldBy: owner) }
    }

    /// Starts a timer after which all finished items are noted, even if they are few.
    private func startTimer(_ timers: inout DiscardingTaskGroup) {
        guard state.withLock({ $0.records.startTimer() }) else { return }
        timers.addTask { [self] in
            try? await Task.sleep(for: .milliseconds(50))
            state.withLock { $0.records.endTimer() }
            changes.notify()
        }
    }
}

extension VaultRecord {
    /// The id in results.
    fileprivate var resultID: JSON { .string(user.userID.rawValue) }
}
