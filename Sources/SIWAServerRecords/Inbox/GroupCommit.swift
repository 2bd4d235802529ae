internal import Glibc
package import SIWALifecycle
package import SIWAVaultRecords
internal import Synchronization

/// Commits events in groups: events that arrive while one transaction is synced to disk, or shortly
/// after, share the next transaction.
package final class GroupCommit: Sendable {
    private let store: ServerStore
    private let decide: Decision
    private let maxWait: Duration?
    private let elapsed: @Sendable () -> Duration
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// Computes the changes to the vault's records; see ``ServerStore/receive(_:_:)``.
    package typealias Decision =
        @Sendable ([IncomingEvent], VaultPage) throws(StoreError) -> VaultChanges

    /// The outcome of one event.
    package enum Outcome: Hashable, Sendable {
        /// The event is new.
        case stored
        /// The event was received before.
        case known
    }

    /// The result of one commit.
    package struct Receipt: Hashable, Sendable {
        /// The outcome of the event.
        package let outcome: Outcome
        /// Unreadable rows of the vault, for all events of the commit.
        package let damaged: [DamagedRecord]
    }

    private struct Waiting: Sendable {
        let event: IncomingEvent
        let since: Duration
        let resume: @Sendable (Result<Receipt, StoreError>) -> Void
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    /// - Parameters:
    ///   - decide: computes the changes to the vault's records from events.
    ///   - maxWait: how long an event waits for the commits before its own; nil for any time.
    ///   - run: runs blocking work on a thread where it does not delay other tasks.
    package init(
        _ store: ServerStore, decide: @escaping Decision, maxWait: Duration? = nil,
        timekeeper: Timekeeper = .system,
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        (self.store, self.decide, self.run) = (store, decide, run)
        (self.maxWait, elapsed) = (maxWait, timekeeper.elapsed)
    }

    /// Stores an event. It is on disk when this returns.
    ///
    /// - Throws: ``StoreError`` of kind `busy`, without storing it, if earlier commits take too
    ///   long: while the database does not answer, an event must not wait for the time limits of
    ///   two commits.
    package func receive(_ event: IncomingEvent) async throws(StoreError) -> Receipt {
        let result = await withCheckedContinuation { continuation in
            receive(event) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Stores an event, and calls back on another thread.
    package func receive(
        _ event: IncomingEvent,
        then resume: @escaping @Sendable (Result<Receipt, StoreError>) -> Void
    ) {
        let since = elapsed()
        let mustRun = state.withLock { state in
            state.waiting.append(Waiting(event: event, since: since, resume: resume))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustRun { run { self.commitAll() } }
    }

    private func commitAll() {
        while true {
            let group = state.withLock { state -> [Waiting] in
                let group = Array(state.waiting.prefix(Self.most))
                state.waiting.removeFirst(group.count)
                state.isRunning = !group.isEmpty
                return group
            }
            if group.isEmpty { return }
            let start = ContinuousClock.now
            commit(refusingLate(group))
            // Several events at once: more are likely to arrive soon.
            if group.count > 1 { Self.gather(start.duration(to: .now)) }
        }
    }

    /// Refuses the events that have waited too long; returns the others.
    private func refusingLate(_ group: [Waiting]) -> [Waiting] {
        guard let maxWait else { return group }
        let now = elapsed()
        let late = group.filter { now - $0.since >= maxWait }
        for one in late {
            one.resume(
                .failure(StoreError(.busy, "earlier calls of the database take too long")))
        }
        return late.isEmpty ? group : group.filter { now - $0.since < maxWait }
    }

    /// Waits for events that can share the next transaction, for as long as the last one took. An
    /// event that arrives alone is committed at once.
    private static func gather(_ last: Duration) {
        usleep(UInt32(min(last, longestGathering) / .microseconds(1)))
    }

    private static let longestGathering = Duration.milliseconds(2)

    /// Commits a group. If the database refuses the group, each event is committed alone, so that
    /// one bad event cannot fail the others.
    private func commit(_ group: [Waiting]) {
        guard !group.isEmpty else { return }
        do throws(StoreError) {
            let receipt = try store.receive(group.map(\.event), decide)
            var stored = receipt.stored
            for one in group {
                let isNew = stored.remove(one.event.event.id) != nil
                one.resume(
                    .success(Receipt(outcome: isNew ? .stored : .known, damaged: receipt.damaged)))
            }
        } catch {
            guard group.count > 1, !error.isTemporary else {
                for one in group { one.resume(.failure(error)) }
                return
            }
            for one in group { commit([one]) }
        }
    }

    /// The most events in one transaction.
    private static let most = 512
}
