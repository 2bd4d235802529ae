package import SIWAJOSE
package import SIWALifecycle
package import SIWAVaultRecords
internal import Synchronization

/// Where the results of a batch on a vault go, and what a person should know meanwhile.
package struct LeasedOutput<Report: Sendable>: Sendable {
    let isFull: @Sendable () -> Bool
    let write: @Sendable ([LeasedResult<Report>]) -> Void
    let note: @Sendable (String) -> Void
    let warn: @Sendable (String) -> Void

    /// - Parameters:
    ///   - isFull: whether no more results can be taken for now.
    ///   - write: takes results that the vault has noted.
    ///   - note: says something about leases.
    ///   - warn: warns of leases that a wrong clock made.
    package init(
        isFull: @escaping @Sendable () -> Bool = { false },
        write: @escaping @Sendable ([LeasedResult<Report>]) -> Void,
        note: @escaping @Sendable (String) -> Void, warn: @escaping @Sendable (String) -> Void
    ) { (self.isFull, self.write, self.note, self.warn) = (isFull, write, note, warn) }
}

/// The items of a batch on a vault: leased in small groups, and noted in the vault before their
/// results are written.
///
/// A separate task changes the database, so that sending never waits for a disk. Before an attempt,
/// the database is only asked whether the run still has the lease; see ``VaultHold``.
package final class LeasedItems<Report: Sendable>: Sendable {
    private let claim: VaultClaim
    private let clocks: Clocks
    private let output: LeasedOutput<Report>
    private let wake: WakeSignal
    /// Wakes the task that uses the database.
    private let changes = WakeSignal()
    private let state: Mutex<State>

    private struct State {
        /// The vault, which decrypts records.
        var vault: Vault
        var records: LeasedRecords<Report>
        var failure: StoreError?
    }

    /// - Parameters:
    ///   - line: the number of the last existing line.
    ///   - wake: notified when there are more items.
    ///   - reports: what is reported about records that are not sent.
    package init(
        _ claim: VaultClaim, after line: Int = 0, _ clocks: Clocks,
        _ output: LeasedOutput<Report>, _ reports: UnsentReports<Report>, _ wake: WakeSignal
    ) {
        (self.claim, self.clocks, self.output) = (claim, clocks, output)
        self.wake = wake
        state = Mutex(
            State(
                vault: claim.vault,
                records: LeasedRecords(size: claim.size, after: line, reports)))
    }

    /// Why the vault became unavailable; nil if it did not.
    package var failure: StoreError? { state.withLock { $0.failure } }

    /// The next item, if one is available; see ``BatchRun``.
    package func next() -> BatchInput<TokenItem> {
        guard !output.isFull() else { return .notYet }
        confirm { $0.upcoming }
        let now = clocks.timekeeper.elapsed()
        let input: BatchInput<TokenItem> = state.withLock { state in
            state.failure == nil ? state.records.next(at: now) : .end
        }
        changes.notify()
        return input
    }

    /// Takes the result of an item; it is written once the vault has noted it.
    package func finish(_ item: TokenItem, _ event: NotedEvent?, _ report: Report) {
        state.withLock { $0.records.finish(item, event, report) }
        changes.notify()
    }

    /// The time after which an item must not be sent; see ``BatchRun`` and ``VaultHold``.
    package func deadline(of item: TokenItem) -> Duration {
        confirm { _ in item }
        return state.withLock { $0.failure == nil ? $0.records.deadline(of: item) : .zero }
    }

    /// Asks the database which items are still leased to the run, unless it has just answered.
    ///
    /// - Parameter item: the item to be sent.
    private func confirm(_ item: (LeasedRecords<Report>) -> TokenItem?) {
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
    package func close() {
        state.withLock { $0.records.close() }
        changes.notify()
    }

    /// Leases, renews and notes, until ``close()``.
    package func work() async {
        await withDiscardingTaskGroup { timers in
            timers.addTask { [self] in
                while (try? await Task.sleep(for: tick)) != nil {
                    let now = clocks.timekeeper.elapsed()
                    state.withLock { $0.records.resume(at: now) }
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
        output.write(group)
        return true
    }

    /// How often leases are looked at.
    private var tick: Duration { claim.lease.renewalInterval / 2 }

    /// Leases more records. False if there are enough, or none are left for now.
    private func leaseMore() throws(StoreError) -> Bool {
        let now = clocks.timekeeper.elapsed()
        guard state.withLock({ $0.records.isWantingMore }) else { return false }
        guard !claim.isOver(clocks.now()) else {
            state.withLock { $0.records.end() }
            wake.notify()
            return false
        }
        let claimed = try state.withLock { $0.vault }.claim(
            claim.filter(clocks.now()), limit: claim.size, for: claim.lease,
            intent: claim.intent, at: clocks.now())
        let isAwaiting = claimed.isComplete ? try areOthersLeft() : false
        let vault = state.withLock { $0.vault }.renewed(for: claimed.records, claim.keys)
        let hold = VaultHold(claimed.remaining, since: now)
        state.withLock { state in
            state.vault = vault
            if claimed.isComplete, !isAwaiting { state.records.end() }
            if claimed.wait != nil || isAwaiting {
                state.records.pause(
                    until: isAwaiting ? now + claim.patience : now, isAwaiting: isAwaiting)
            }
            for row in claimed.damaged { state.records.add(row) }
            if state.records.isEmpty {
                state.records.renewNext(at: now + claim.lease.renewalInterval / 2)
            }
            for record in claimed.records {
                state.records.add(record, for: hold) {
                    line throws(StoreError) in
                    let token = try vault.token(of: record)
                    return TokenItem(
                        token, record.look(of: token), line: line, id: record.resultID,
                        clientID: record.user.clientID,
                        isInDoubt: record.state == .revoking && claim.intent == .revocationBegun)
                }
            }
        }
        report(claimed)
        wake.notify()
        return claimed.wait == nil && !isAwaiting || !claimed.records.isEmpty
    }

    /// Whether records are left that others hold, or that become due later.
    private func areOthersLeft() throws(StoreError) -> Bool {
        guard let awaited = claim.awaited else { return false }
        var last: VaultRowKey?
        while true {
            let page = try claim.vault.store.records(awaited, after: last, limit: 1)
            guard page.records.isEmpty, let next = page.next else { return !page.records.isEmpty }
            last = next
        }
    }

    /// Says what leases of a clock that was wrong mean for the run.
    private func report(_ claimed: VaultClaimed) {
        if claimed.wait != nil, state.withLock({ $0.records.noteWaiting() }) {
            output.note(
                "records are leased for longer than any lease lasts: a clock was wrong; they are "
                    + "taken over if their leases stay unchanged for "
                    + VaultLeaseWatch.patience.words(units: 1))
        }
        guard let first = claimed.voided.first else { return }
        let more = claimed.voided.count > 1 ? " and \(claimed.voided.count - 1) more" : ""
        output.warn(
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
    package var resultID: JSON { .string(user.userID.rawValue) }
}
