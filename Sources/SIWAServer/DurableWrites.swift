internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords
internal import Synchronization

/// Writes changes that must not be lost. If the database fails, the change is retried in the
/// background as long as the process runs, and its token is kept in a file meanwhile: the process may be
/// killed.
struct DurableWrites: Sendable {
    /// What is lost if a change is never made.
    enum Loss: Sendable {
        case nothing
        /// A token that belongs to no user in the vault, because its code is to be revoked.
        case revocable(LogSubject)
        /// A refresh token. It can be saved in a file.
        case token(UnsavedToken)
        /// Nothing, because the refresh token is in a file. The user is nil if the file does not tell.
        case saved(VaultUser?)
    }

    typealias Change = @Sendable (ServerStore) throws(StoreError) -> Void

    private let access: StoreAccess
    private let keeper: TokenKeeper?
    private let log: ServiceLog
    private let background = BackgroundTasks()
    private let pending = PendingWrites()

    /// Creates one without changes.
    ///
    /// - Parameter keeper: nil to keep waiting tokens in memory alone.
    init(_ access: StoreAccess, keeper: TokenKeeper?, log: @escaping ServiceLog) {
        (self.access, self.keeper, self.log) = (access, keeper, log)
    }

    /// Changes the database now, or in the background.
    ///
    /// - Parameters:
    ///   - event: the event that is logged if the change is not made immediately.
    ///   - change: may run several times, but does not begin after it succeeded, or its token was saved.
    /// - Returns: whether the change is already done.
    func write(
        _ event: String, losing loss: Loss = .nothing, _ change: @escaping Change
    ) async -> Bool {
        let write = pending.add(loss)
        guard let failure = await attempt(write, change) else {
            pending.remove(write)
            return true
        }
        log(ServiceEvent(.error, event, failure))
        pending.beginWaiting(write)
        if case .token(let token) = loss, let keeper {
            await keeper.run { write.keep { keep(token) } }
        }
        background.start { [self] in await retry(write, change) }
        return false
    }

    private func keep(_ token: UnsavedToken) -> TokenKeeper.Removal? {
        let removal = keeper?.keep(token)
        if removal != nil { log(ServiceEvent(.warning, "token_saved", about: token.subject)) }
        return removal
    }

    /// Stores a token that is in a file, which failed once, in the background. The end of the process
    /// does not wait for it.
    ///
    /// - Parameters:
    ///   - user: the owner; nil if the file does not tell.
    ///   - change: may run several times.
    func storeSaved(of user: VaultUser?, _ change: @escaping Change) {
        let write = pending.add(.saved(user))
        pending.beginWaiting(write)
        Task { await retry(write, change) }
    }

    private func retry(_ write: PendingWrites.Write, _ change: @escaping Change) async {
        defer { pending.remove(write) }
        var delay = Duration.seconds(1)
        while !Task.isCancelled {
            await pending.pause(write, atMost: delay)
            if await attempt(write, change) == nil {
                await keeper?.run { write.removeCopy() }
                return
            }
            pending.fail(write)
            delay = min(delay * 2, .seconds(60))
        }
    }

    /// Retries the changes that store tokens of a user now, and waits for the results.
    ///
    /// - Throws: ``StoreError`` of kind `busy` if one of them still cannot be made.
    func storeTokens(of userID: UserID) async throws(StoreError) {
        guard await pending.hurry(userID, until: Deadline(after: Self.patience, by: .system)) else {
            throw StoreError(
                .busy, "a token of '\(userID)' waits to be stored, and cannot be stored yet",
                remedy: "check the database, and send the same request again later",
                naming: userID.rawValue)
        }
    }

    private static let patience = Duration.seconds(8)

    private func attempt(
        _ write: PendingWrites.Write, _ change: @escaping Change
    ) async -> StoreError? {
        do throws(StoreError) {
            try await access.run { store throws(StoreError) in
                try write.finish { () throws(StoreError) in try change(store) }
            }
            return nil
        } catch {
            return error
        }
    }

    /// Waits until everything is in the database, but tokens that are in a file.
    func drain() async { await background.drain() }

    /// The number of refresh tokens that could not be stored yet: no other copy may exist. One that is
    /// just being stored for the first time is none of them.
    var unsavedTokens: Int { pending.tokenCount }

    /// Keeps the tokens that wait and could not be kept before; they are not stored any more.
    ///
    /// - Returns: the tokens that are lost if the process ends now.
    func saveTokens() -> [LogSubject] { pending.saveTokens(keep) }
}

/// Keeps tokens outside the database while they wait to be stored.
struct TokenKeeper: Sendable {
    private let threads: any TaskExecutor
    /// Keeps a token.
    ///
    /// - Returns: what ends that; nil if the token could not be kept.
    let keep: @Sendable (UnsavedToken) -> Removal?

    typealias Removal = @Sendable () -> Void

    /// - Parameter threads: the executor for blocking calls only.
    init(on threads: any TaskExecutor, keep: @escaping @Sendable (UnsavedToken) -> Removal?) {
        (self.threads, self.keep) = (threads, keep)
    }

    /// Runs a function that waits for a disk.
    func run(_ body: @escaping @Sendable () -> Void) async {
        await Task(executorPreference: threads) { body() }.value
    }
}

/// A refresh token that waits to be stored.
struct UnsavedToken: Sendable {
    let token: RefreshToken
    let user: VaultUser
    let signedInAt: NumericDate?
    let receivedAt: NumericDate

    var subject: LogSubject { LogSubject(user, fingerprint: token.text.fingerprint) }
}

/// The changes that have not been made yet, and their attempts.
private final class PendingWrites: Sendable {
    final class Write: Sendable {
        let number: Int
        let loss: DurableWrites.Loss
        private let state = Mutex(State.open)

        private enum State {
            case open
            /// The database has the change.
            case made
            /// Its token is kept, and the change is not attempted any more.
            case kept
        }

        /// Removes the token from where it is kept; nil if it is not.
        private let removal = Mutex<TokenKeeper.Removal?>(nil)

        init(_ number: Int, _ loss: DurableWrites.Loss) {
            (self.number, self.loss) = (number, loss)
        }

        /// Runs `body` unless the change is made, or its token is saved.
        func finish(_ body: () throws(StoreError) -> Void) throws(StoreError) {
            try state.withLock { state throws(StoreError) in
                guard state == .open else { return }
                try body()
                state = .made
            }
        }

        /// The same with a token that is kept elsewhere, without waiting for an attempt that is
        /// running, and which may succeed: then the token is in both places, and the next start finds
        /// that the vault knows it.
        ///
        /// - Returns: whether it is done.
        func finish(byKeeping body: () -> TokenKeeper.Removal?) -> Bool {
            state.withLockIfAvailable { state in
                if state == .open, keep(body) { state = .kept }
                return state != .open
            } ?? keep(body)
        }

        /// Keeps the token, unless it is kept already.
        ///
        /// - Returns: whether it is.
        @discardableResult
        func keep(_ body: () -> TokenKeeper.Removal?) -> Bool {
            removal.withLock { removal in
                if removal == nil { removal = body() }
                return removal != nil
            }
        }

        /// Removes the kept token, if the database has it.
        func removeCopy() {
            guard state.withLock({ $0 == .made }) else { return }
            removal.withLock { removal in
                removal?()
                removal = nil
            }
        }
    }

    private struct Entry {
        let write: Write
        /// Whether the first attempt failed.
        var isWaiting = false
        /// The number of further attempts that have ended.
        var ended = 0
        var isRunning = false
        /// Whether the next attempt is to be made without a pause.
        var isUrgent = false

        /// Whether the change stores a refresh token, and whose that is.
        var stores: (token: Bool, user: VaultUser?) {
            switch write.loss {
            case .token(let token): (true, token.user)
            case .saved(let user): (true, user)
            case .nothing, .revocable: (false, nil)
            }
        }
    }

    private struct State {
        var last = 0
        var entries: [Int: Entry] = [:]
    }

    private let state = Mutex(State())
    private let urgency = WakeSignal()
    private let progress = WakeSignal()

    func add(_ loss: DurableWrites.Loss) -> Write {
        state.withLock { state in
            state.last += 1
            let write = Write(state.last, loss)
            state.entries[state.last] = Entry(write: write)
            return write
        }
    }

    func remove(_ write: Write) {
        state.withLock { _ = $0.entries.removeValue(forKey: write.number) }
        progress.notify()
    }

    func beginWaiting(_ write: Write) {
        state.withLock { $0.entries[write.number]?.isWaiting = true }
    }

    /// Waits for the time of the next attempt.
    func pause(_ write: Write, atMost delay: Duration) async {
        let deadline = Deadline(after: delay, by: .system)
        while case let count = urgency.count, deadline.remaining > .zero,
            state.withLock({ $0.entries[write.number]?.isUrgent == false })
        {
            await urgency.wait(after: count, atMost: deadline.remaining)
        }
        state.withLock { state in
            state.entries[write.number]?.isUrgent = false
            state.entries[write.number]?.isRunning = true
        }
    }

    /// Notes that an attempt failed.
    func fail(_ write: Write) {
        state.withLock { state in
            state.entries[write.number]?.isRunning = false
            state.entries[write.number]?.ended += 1
        }
        progress.notify()
    }

    /// Has the changes that store tokens of a user attempted now.
    ///
    /// - Returns: whether none of them waits any more.
    func hurry(_ userID: UserID, until deadline: Deadline) async -> Bool {
        let targets = state.withLock { state -> [Int: Int] in
            var targets: [Int: Int] = [:]
            for (number, entry) in state.entries
            where entry.isWaiting && entry.stores.user?.userID == userID {
                // An attempt that is running may have begun before the database worked.
                targets[number] = entry.ended + (entry.isRunning ? 2 : 1)
                state.entries[number]?.isUrgent = true
            }
            return targets
        }
        guard !targets.isEmpty else { return true }
        urgency.notify()
        while case let count = progress.count, deadline.remaining > .zero, !Task.isCancelled,
            state.withLock({ state in
                targets.contains { state.entries[$0.key].map(\.ended) ?? .max < $0.value }
            })
        {
            await progress.wait(after: count, atMost: deadline.remaining)
        }
        return state.withLock { state in targets.keys.allSatisfy { state.entries[$0] == nil } }
    }

    /// The tokens whose first attempt failed.
    var tokenCount: Int {
        state.withLock { $0.entries.values.count { $0.isWaiting && $0.stores.token } }
    }

    func saveTokens(_ keep: (UnsavedToken) -> TokenKeeper.Removal?) -> [LogSubject] {
        let entries = state.withLock {
            $0.entries.values.sorted { $0.write.number < $1.write.number }
        }
        return entries.compactMap { entry in
            switch entry.write.loss {
            case .nothing, .saved: nil
            case .revocable(let subject): entry.isWaiting ? subject : nil
            case .token(let token):
                entry.write.finish(byKeeping: { keep(token) }) ? nil : token.subject
            }
        }
    }
}
