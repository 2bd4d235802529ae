internal import Glibc
package import Lifecycle
internal import Synchronization

/// Commits events that arrive at the same time together: while one transaction goes to disk, and a
/// moment longer, the next ones gather, so that many of them share one sync.
package final class GroupCommit: Sendable {
    private let store: any ServerStore
    private let decide: Decision
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// What events make of the vault's records; see ``ServerStore/receive(_:_:)``.
    package typealias Decision =
        @Sendable ([IncomingEvent], VaultPage) throws(VaultError) -> VaultChanges

    /// What became of one event.
    package enum Outcome: Hashable, Sendable {
        /// It was not known before.
        case stored
        /// It was.
        case known
    }

    /// What is known of one commit.
    package struct Receipt: Hashable, Sendable {
        /// What became of the event.
        package let outcome: Outcome
        /// Rows of the vault that cannot be read, of all events of the commit.
        package let damaged: [DamagedRecord]
    }

    private struct Waiting: Sendable {
        let event: IncomingEvent
        let resume: @Sendable (Result<Receipt, VaultError>) -> Void
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    /// - Parameters:
    ///   - decide: computes the changes to the vault's records from events.
    ///   - run: runs blocking work on a thread where it does not delay other tasks.
    package init(
        _ store: any ServerStore, decide: @escaping Decision,
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        (self.store, self.decide, self.run) = (store, decide, run)
    }

    /// Keeps an event. It is on disk when this returns.
    package func receive(_ event: IncomingEvent) async throws(VaultError) -> Receipt {
        let result = await withCheckedContinuation { continuation in
            receive(event) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Keeps an event, and calls back on another thread.
    package func receive(
        _ event: IncomingEvent,
        then resume: @escaping @Sendable (Result<Receipt, VaultError>) -> Void
    ) {
        let mustRun = state.withLock { state in
            state.waiting.append(Waiting(event: event, resume: resume))
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
            commit(group)
            // Where several came together, more are on their way.
            if group.count > 1 { Self.gather(start.duration(to: .now)) }
        }
    }

    /// Waits for events that can share the next sync: as long as the last commit took. What comes
    /// alone does not wait.
    private static func gather(_ last: Duration) {
        usleep(UInt32(min(last, longestGathering) / .microseconds(1)))
    }

    private static let longestGathering = Duration.milliseconds(2)

    /// Commits a group. One event that the database refuses must not be the others' failure.
    private func commit(_ group: [Waiting]) {
        do throws(VaultError) {
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

    /// In one transaction.
    private static let most = 512
}
