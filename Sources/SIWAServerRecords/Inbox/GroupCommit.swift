internal import Dispatch
package import SIWALifecycle
package import SIWAVaultRecords
internal import Synchronization

/// Commits events in groups: events that arrive in one turn of an event loop, while a transaction is
/// synced to disk, or shortly after, share the next transaction. A commit by itself costs about half as
/// much as an event without its signature.
package final class GroupCommit: Sendable {
    private let store: ServerStore
    private let decide: Decision
    private let maxWait: Duration?
    private let longestGathering: Duration
    private let elapsed: @Sendable () -> Duration
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())
    /// Signalled once when ``State/enough`` is reached.
    private let hasGathered = DispatchSemaphore(value: 0)

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

    /// Calls a function on the thread where a result is expected: at once, if it is called there, or if
    /// any thread will do.
    package typealias Performer = @Sendable (@escaping @Sendable () -> Void) -> Void

    private struct Waiting: Sendable {
        let event: IncomingEvent
        let since: Duration
        let perform: Performer
        let completion: @Sendable (Result<Receipt, StoreError>) -> Void
    }

    private struct State {
        var waiting: [Waiting] = []
        /// Whether the next transaction can begin.
        var isDue = false
        var isRunning = false
        /// How many events the writing thread waits for, while it does.
        var enough: Int?

        /// Whether the writing thread need not wait any longer; true once.
        mutating func takeEnough() -> Bool {
            guard isDue, let number = enough, waiting.count >= number else { return false }
            enough = nil
            return true
        }
    }

    /// - Parameters:
    ///   - decide: computes the changes to the vault's records from events.
    ///   - maxWait: how long an event waits for the commits before its own; nil for any time.
    ///   - longestGathering: how long a commit of several events waits at most for as many as the one
    ///     before it had.
    ///   - run: runs blocking work on a thread where it does not delay other tasks.
    package init(
        _ store: ServerStore, decide: @escaping Decision, maxWait: Duration? = nil,
        longestGathering: Duration = .milliseconds(2), timekeeper: Timekeeper = .system,
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        (self.store, self.decide, self.run) = (store, decide, run)
        (self.maxWait, self.longestGathering) = (maxWait, longestGathering)
        elapsed = timekeeper.elapsed
    }

    /// Stores an event. Its transaction does not begin before ``endTurn()``, because the caller may have
    /// further events at hand.
    ///
    /// - Parameters:
    ///   - perform: calls a function on the thread for `completion`.
    ///   - completion: called when the event is on disk, or cannot be stored; with ``StoreError`` of kind
    ///     `busy` if earlier commits take too long: while the database does not answer, an event must not
    ///     wait for the time limits of two commits.
    package func receive(
        _ event: IncomingEvent, on perform: @escaping Performer,
        _ completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void
    ) {
        state.withLock { state in
            // In the lock, so that the first has waited longest.
            let since = elapsed()
            state.waiting.append(
                Waiting(event: event, since: since, perform: perform, completion: completion))
        }
    }

    /// The number of events whose transaction has not begun.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Lets the transaction of the events that wait begin.
    package func endTurn() {
        let (mustRun, hasEnough) = state.withLock { state -> (Bool, Bool) in
            guard !state.waiting.isEmpty else { return (false, false) }
            state.isDue = true
            defer { state.isRunning = true }
            return (!state.isRunning, state.takeEnough())
        }
        if mustRun { run { self.commitAll() } }
        if hasEnough { hasGathered.signal() }
    }

    private func commitAll() {
        while true {
            let group = state.withLock { state -> [Waiting] in
                let group = state.isDue ? Array(state.waiting.prefix(Self.most)) : []
                state.waiting.removeFirst(group.count)
                state.isDue = !group.isEmpty && !state.waiting.isEmpty
                state.isRunning = !group.isEmpty
                return group
            }
            if group.isEmpty { return }
            let start = elapsed()
            commit(refusingLate(group))
            // Several events at once: more are likely to arrive soon.
            if group.count > 1 { gather(after: group.count, elapsed() - start) }
        }
    }

    /// Waits for events that can share the next transaction: until a turn has brought half as many as
    /// the last one had, at most as long as the last one took. An event that arrives alone is committed
    /// at once.
    private func gather(after count: Int, _ duration: Duration) {
        let isEnough = state.withLock { state in
            state.enough = (count + 1) / 2
            return state.takeEnough()
        }
        if isEnough { return }
        let limit = max(min(duration, longestGathering), .zero) / .microseconds(1)
        guard hasGathered.wait(timeout: .now() + .microseconds(Int(limit))) == .timedOut else {
            return
        }
        let isSignalled = state.withLock { $0.enough.take() == nil }
        // It was signalled after all, or is being signalled.
        if isSignalled { hasGathered.wait() }
    }

    /// Refuses the events that have waited too long, the first of the group; returns the others.
    private func refusingLate(_ group: [Waiting]) -> [Waiting] {
        guard let maxWait else { return group }
        let now = elapsed()
        let late = group.prefix { now - $0.since >= maxWait }
        guard !late.isEmpty else { return group }
        end(Array(late)) { _ in
            .failure(StoreError(.busy, "earlier calls of the database take too long"))
        }
        return Array(group[late.endIndex...])
    }

    /// Commits a group. If the database refuses the group, each event is committed alone, so that
    /// one bad event cannot fail the others.
    private func commit(_ group: [Waiting]) {
        guard !group.isEmpty else { return }
        do throws(StoreError) {
            var receipt = try store.receive(group.map(\.event), decide)
            end(group) { event in
                let isNew = receipt.stored.remove(event.event.id) != nil
                return .success(
                    Receipt(outcome: isNew ? .stored : .known, damaged: receipt.damaged))
            }
        } catch {
            guard group.count > 1, !error.isTemporary else {
                return end(group) { _ in .failure(error) }
            }
            for one in group { commit([one]) }
        }
    }

    /// Hands results over on the thread of the first, which is that of most: this one would wake it for
    /// each.
    private func end(
        _ group: [Waiting], _ result: (IncomingEvent) -> Result<Receipt, StoreError>
    ) {
        let results = group.map { result($0.event) }
        group.first?.perform {
            for (one, result) in zip(group, results) {
                one.perform { one.completion(result) }
            }
        }
    }

    /// The most events in one transaction.
    private static let most = 512
}
