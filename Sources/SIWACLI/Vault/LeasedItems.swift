internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords
internal import Synchronization

/// The items of a batch on a vault: leased in small groups, and noted in the vault before their
/// results are written.
///
/// A separate task changes the database, so that sending never waits for a disk. Before an attempt,
/// the database is only asked whether the run still has the lease; see ``VaultHold``.
final class LeasedItems: Sendable {
    private let claim: VaultClaim
    private let clocks: Clocks
    private let output: BatchOutput
    private let wake: WakeSignal
    private let console: Console
    private let noted: @Sendable () -> Void
    /// Wakes the task that uses the database.
    private let changes = WakeSignal()
    private let state: Mutex<State>

    private struct State {
        /// The vault, which decrypts records.
        var vault: Vault
        var records: LeasedRecords
        var failure: StoreError?
    }

    /// - Parameters:
    ///   - line: the number of the last existing line.
    ///   - wake: notified when there are more items.
    ///   - origin: whose results they are.
    ///   - console: for warnings about leases.
    ///   - noted: called when results were written.
    init(
        _ claim: VaultClaim, after line: Int, _ clocks: Clocks, _ output: BatchOutput,
        _ wake: WakeSignal, _ origin: BatchOrigin, _ console: Console,
        noted: @escaping @Sendable () -> Void
    ) {
        (self.claim, self.clocks, self.output) = (claim, clocks, output)
        (self.wake, self.console, self.noted) = (wake, console, noted)
        state = Mutex(
            State(vault: claim.vault, records: LeasedRecords(size: claim.size, after: line, origin))
        )
    }

    /// Why the vault became unavailable; nil if it did not.
    var failure: StoreError? { state.withLock { $0.failure } }

    /// The next item, if one is available; see ``BatchRun``.
    func next() -> BatchInput<TokenItem> {
        guard !output.isFull else { return .notYet }
        confirm { $0.upcoming }
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

    /// The time after which an item must not be sent; see ``BatchRun`` and ``VaultHold``.
    func deadline(of item: TokenItem) -> Duration {
        confirm { _ in item }
        return state.withLock { $0.failure == nil ? $0.records.deadline(of: item) : .zero }
    }

    /// Asks the database which items are still leased to the run, unless it has just answered.
    ///
    /// - Parameter item: the item to be sent.
    private func confirm(_ item: (LeasedRecords) -> TokenItem?) {
        let now = clocks.timekeeper.elapsed()
        let asked = state.withLock { state in
            item(state.records).map { state.records.doubtful(before: $0, at: now) } ?? [:]
        }
        guard !asked.isEmpty else { return }
        do throws(StoreError) {
            let held = try claim.vault.store.held(Array(asked.values), by: claim.lease.owner)
            state.withLock { $0.records.confirm(held, of: asked, at: now) }
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Ends ``work()`` after all finished items are noted.
    func close() {
        state.withLock { $0.records.close() }
        changes.notify()
    }

    /// Leases, renews and notes, until ``close()``.
    func work() async {
        await withDiscardingTaskGroup { timers in
            timers.addTask { [self] in
                while (try? await Task.sleep(for: tick)) != nil {
                    state.withLock { $0.records.resume() }
                    changes.notify()
                }
            }
            do throws(StoreError) {
                try await work(&timers)
            } catch {
                state.withLock { $0.failure = error }
                wake.notify()
            }
            timers.cancelAll()
        }
    }

    private func work(_ timers: inout DiscardingTaskGroup) async throws(StoreError) {
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
    private func renewLeases() throws(StoreError) {
        let now = clocks.timekeeper.elapsed()
        let due = state.withLock { $0.records.dueForRenewal(at: now) }
        guard !due.isEmpty else { return }
        let renewed = try claim.vault.store.renew(Array(due.values), for: claim.lease)
        state.withLock { state in
            state.records.renewNext(at: now + claim.lease.renewalInterval / 2)
            state.records.take(
                renewed, of: due, for: VaultHold(renewed.remaining, since: now))
        }
    }

    /// Notes the finished items, and writes their results. False if there is nothing to note yet.
    private func noteFinished() throws(StoreError) -> Bool {
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

    /// How often leases are looked at.
    private var tick: Duration { claim.lease.renewalInterval / 2 }

    /// Leases more records. False if there are enough, or none are left for now.
    private func leaseMore() throws(StoreError) -> Bool {
        let now = clocks.timekeeper.elapsed()
        guard state.withLock({ $0.records.isWantingMore }) else { return false }
        let claimed = try state.withLock { $0.vault }.claim(
            claim.filter, limit: claim.size, for: claim.lease, intent: claim.intent,
            at: clocks.now())
        let vault = state.withLock { $0.vault }.renewed(for: claimed.records, claim.keys)
        let hold = VaultHold(claimed.remaining, since: now)
        state.withLock { state in
            state.vault = vault
            if claimed.isComplete { state.records.end() }
            if claimed.wait != nil { state.records.pause() }
            for row in claimed.damaged { state.records.add(row) }
            if state.records.isEmpty {
                state.records.renewNext(at: now + claim.lease.renewalInterval / 2)
            }
            for record in claimed.records {
                state.records.add(record, for: hold) {
                    line throws(StoreError) in
                    TokenItem(
                        try vault.token(of: record), line: line, id: record.resultID,
                        clientID: record.user.clientID,
                        isInDoubt: record.state == .revoking && claim.intent == .revocationBegun)
                }
            }
        }
        report(claimed)
        wake.notify()
        return claimed.wait == nil || !claimed.records.isEmpty
    }

    /// Says what leases of a clock that was wrong mean for the run.
    private func report(_ claimed: VaultClaimed) {
        if claimed.wait != nil, state.withLock({ $0.records.noteWaiting() }) {
            console.note(
                "records are leased for longer than any lease lasts: a clock was wrong; they are "
                    + "taken over if their leases stay unchanged for "
                    + VaultLeaseWatch.patience.words(units: 1))
        }
        guard let first = claimed.voided.first else { return }
        let more = claimed.voided.count > 1 ? " and \(claimed.voided.count - 1) more" : ""
        console.warn(
            "\(first.row)\(more): the lease of another run ended too late and was not renewed, so it "
                + "was taken over; check the clocks of all machines that use the vault")
    }

    /// Releases unfinished and unreadable records, so that other runs can lease them immediately.
    private func returnUnfinished() throws(StoreError) {
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
    fileprivate var resultID: JSON { .string(user.userID.rawValue) }
}
