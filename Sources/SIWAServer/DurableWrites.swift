internal import JOSE
internal import Lifecycle
internal import ServerRecords
internal import Synchronization

/// Writes changes that must not be lost. If the database fails, the change is retried in the
/// background as long as the process runs.
struct DurableWrites: Sendable {
    private let access: StoreAccess
    private let clocks: Clocks
    private let log: ServiceLog
    private let background = BackgroundTasks()
    private let waiting = WaitingWrites()

    init(_ access: StoreAccess, clocks: Clocks, log: @escaping ServiceLog) {
        (self.access, self.clocks, self.log) = (access, clocks, log)
    }

    /// Changes the database now, or in the background.
    ///
    /// - Parameters:
    ///   - event: the event that is logged if the change is not made immediately.
    ///   - userID: the user whose token the change stores.
    ///   - token: describes the token that is lost if the change is never made, for the log; nil if
    ///     none is.
    ///   - change: may run several times.
    /// - Returns: whether the change is already done.
    func write(
        _ event: String, of userID: UserID? = nil, losing token: [JSON.Member]? = nil,
        _ change: @escaping @Sendable (any ServerStore) throws(VaultError) -> Void
    ) async -> Bool {
        guard let failure = await attempt(change) else { return true }
        log(ServiceEvent(.error, event, [.init("reason", .string(failure.message))]))
        let key = waiting.add(userID, token)
        background.start { [self] in
            defer { waiting.remove(key) }
            var delay = Duration.seconds(1)
            while !Task.isCancelled {
                await waiting.pause(key, atMost: delay)
                if await attempt(change) == nil { return }
                waiting.fail(key)
                delay = min(delay * 2, .seconds(60))
            }
        }
        return false
    }

    /// Retries the changes that store tokens of a user now, and waits for the results.
    ///
    /// - Throws: ``VaultError`` of kind `busy` if one of them still cannot be made.
    func storeTokens(of userID: UserID) async throws(VaultError) {
        guard await waiting.hurry(userID, until: Deadline(after: Self.patience, by: .system)) else {
            throw VaultError(
                .busy, "a token of '\(userID)' waits to be stored, and cannot be stored yet",
                remedy: "check the database, and send the same request again later")
        }
    }

    private static let patience = Duration.seconds(8)

    private func attempt(
        _ change: @escaping @Sendable (any ServerStore) throws(VaultError) -> Void
    ) async -> VaultError? {
        do throws(VaultError) {
            try await access.run(change)
            return nil
        } catch {
            return error
        }
    }

    /// Waits until everything is in the database.
    func drain() async { await background.drain() }

    /// The tokens that are lost if the process ends now, for the log.
    var tokens: [[JSON.Member]] { waiting.tokens }
}

/// The changes that could not be made yet, and their attempts.
private final class WaitingWrites: Sendable {
    private struct Entry {
        let userID: UserID?
        let token: [JSON.Member]?
        /// The number of attempts that have ended.
        var ended = 0
        var isRunning = false
        /// Whether the next attempt is to be made without a pause.
        var isUrgent = false
    }

    private struct State {
        var last = 0
        var entries: [Int: Entry] = [:]
    }

    private let state = Mutex(State())
    private let urgency = WakeSignal()
    private let progress = WakeSignal()

    var tokens: [[JSON.Member]] { state.withLock { $0.entries.values.compactMap(\.token) } }

    func add(_ userID: UserID?, _ token: [JSON.Member]?) -> Int {
        state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(userID: userID, token: token)
            return state.last
        }
    }

    func remove(_ key: Int) {
        state.withLock { _ = $0.entries.removeValue(forKey: key) }
        progress.notify()
    }

    /// Waits for the time of the next attempt.
    func pause(_ key: Int, atMost delay: Duration) async {
        let deadline = Deadline(after: delay, by: .system)
        while case let count = urgency.count, deadline.remaining > .zero,
            state.withLock({ $0.entries[key]?.isUrgent == false })
        {
            await urgency.wait(after: count, atMost: deadline.remaining)
        }
        state.withLock { state in
            state.entries[key]?.isUrgent = false
            state.entries[key]?.isRunning = true
        }
    }

    /// Notes that an attempt failed.
    func fail(_ key: Int) {
        state.withLock { state in
            state.entries[key]?.isRunning = false
            state.entries[key]?.ended += 1
        }
        progress.notify()
    }

    /// Has the changes of a user attempted now.
    ///
    /// - Returns: whether none of them waits any more.
    func hurry(_ userID: UserID, until deadline: Deadline) async -> Bool {
        let targets = state.withLock { state -> [Int: Int] in
            var targets: [Int: Int] = [:]
            for (key, entry) in state.entries where entry.userID == userID {
                // An attempt that is running may have begun before the database worked.
                targets[key] = entry.ended + (entry.isRunning ? 2 : 1)
                state.entries[key]?.isUrgent = true
            }
            return targets
        }
        guard !targets.isEmpty else { return true }
        urgency.notify()
        while case let count = progress.count, deadline.remaining > .zero,
            state.withLock({ state in
                targets.contains { state.entries[$0.key].map(\.ended) ?? .max < $0.value }
            })
        {
            await progress.wait(after: count, atMost: deadline.remaining)
        }
        return state.withLock { state in targets.keys.allSatisfy { state.entries[$0] == nil } }
    }
}
