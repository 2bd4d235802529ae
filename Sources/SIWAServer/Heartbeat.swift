internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords
internal import Synchronization

/// Shows that this server is running, and what it knows: a row of the database that is written every
/// ten seconds. The same writes show whether the database can be used.
final class Heartbeat: Sendable {
    private let access: StoreAccess
    private let vault: SharedVault
    private let server: ServerInstance
    private let timekeeper: Timekeeper
    private let watch: DatabaseWatch
    private let state: Mutex<State>

    private let startedAt: NumericDate

    private struct State {
        /// When the last successful write began.
        var lastSuccess: Duration
        /// Why the last write failed; nil if it succeeded.
        var failure: StoreError?
        /// Whether a write since the last successful one found a damaged database.
        var foundDamage = false
        /// Why the keys in their file cannot be used; nil if they can.
        var keyFileFault: String?
    }

    /// - Parameters:
    ///   - server: whose row is written.
    ///   - watch: notes calls that failed.
    init(
        _ access: StoreAccess, _ vault: SharedVault, _ server: ServerInstance,
        _ clocks: Clocks, _ watch: DatabaseWatch
    ) {
        (self.access, self.vault, self.server) = (access, vault, server)
        (timekeeper, self.watch) = (clocks.timekeeper, watch)
        startedAt = clocks.now()
        state = Mutex(State(lastSuccess: clocks.timekeeper.elapsed()))
    }

    /// The pause after a failed write.
    private static let retryPause = Duration.seconds(2)

    /// Writes the row again and again. Runs until cancelled.
    ///
    /// - Parameter facts: what the server knows now.
    func run(_ facts: @Sendable () async -> ServerFacts) async {
        await removeFormer(at: await facts().listeners)
        var pause = Duration.zero
        while await rest(pause) {
            let facts = await facts()
            let isWritten = await beat(facts)
            // A row that names a fault which this write has ended is replaced at once.
            let isOver = facts.databaseFault != nil && fault == nil
            pause =
                !isWritten ? Self.retryPause : isOver ? .zero : ServerInstance.interval
        }
    }

    /// Waits before the next write: for the pause, or until another call of the database has failed,
    /// because what is wrong is to be known before more calls fail.
    ///
    /// - Returns: false if the task was cancelled.
    private func rest(_ pause: Duration) async -> Bool {
        let (seen, least) = (watch.failures.count, min(pause, .seconds(1)))
        guard (try? await timekeeper.sleep(least)) != nil else { return false }
        if pause > least {
            await watch.failures.wait(after: seen, atMost: pause - least, by: timekeeper)
        }
        return !Task.isCancelled
    }

    /// Removes the rows of servers of this machine that listened where this one does: they were
    /// killed. One that runs, in a system of its own with the same host name, writes its row again.
    private func removeFormer(at addresses: [String]) async {
        let own = server
        try? await access.run { store throws(StoreError) in
            for former in try store.survey().servers
            where former.server.host == own.host && former.server.id != own.id
                && (former.facts?.listeners ?? []).contains(where: addresses.contains)
            {
                try store.end(server: former.server.id)
            }
        }
    }

    /// Writes the row once.
    ///
    /// - Returns: whether it was written.
    @discardableResult
    func beat(_ facts: ServerFacts) async -> Bool {
        let start = timekeeper.elapsed()
        // After a write that failed for want of space, one that needs space.
        let isProbing = watch.isFull
        let server = isProbing ? server.padded : server
        let vault = vault
        do throws(StoreError) {
            let keyFileFault = try await access.run { store throws(StoreError) in
                try store.beat(server, facts)
                let checks = try store.check()
                try vault.with { vault throws(StoreError) in
                    _ = try Vault.encryptingKey(checks, vault.keys)
                    try vault.openSample()
                }
                return vault.keyFileFault(checks)
            }
            if isProbing { watch.succeed() }
            // What calls met while a table was missing is fixed with it.
            let before = state.withLock { $0 }
            if before.failure != nil { watch.forget(record: before.foundDamage) }
            state.withLock { $0 = State(lastSuccess: start, keyFileFault: keyFileFault) }
            return true
        } catch {
            state.withLock { state in
                state.failure = error
                if error.kind == .damaged { state.foundDamage = true }
            }
            return false
        }
    }

    /// Removes the row.
    func end() async {
        let id = server.id
        try? await access.run { store throws(StoreError) in try store.end(server: id) }
    }

    /// This server's row as it would be written now; its heartbeat is the last that succeeded.
    func record(_ facts: ServerFacts, at now: NumericDate) -> ServerRecord {
        let age = timekeeper.elapsed() - state.withLock { $0.lastSuccess }
        return ServerRecord(
            server, startedAt: startedAt,
            heartbeatAt: now - age, silence: age, facts: facts)
    }

    /// The free bytes of the database's file system; nil if that is unknown.
    var freeSpace: Int? { watch.freeSpace }

    /// When a record of the vault could last not be read; nil if all could.
    var unreadableRecordAt: NumericDate? { watch.unreadableRecordAt }

    /// When a call was last given up because others held the database for too long; nil if that never
    /// happened.
    var busyAt: NumericDate? { watch.busyAt }

    /// The last call that the database refused, although it can be used; nil if there was none.
    var refusal: ServerFacts.RefusedCall? { watch.refusal }

    /// Why the vault could not be opened with the keys that are in their file now, at the last
    /// heartbeat; nil if it could.
    var keyFileFault: String? { state.withLock { $0.keyFileFault } }

    /// Why the server is not ready: the database cannot be used, or is soon full. Nil if it is.
    var readinessFault: String? { fault ?? watch.warning }

    /// Why the database cannot be used; nil if it can.
    var fault: String? {
        let state = state.withLock { $0 }
        let silence = ServerInstance.fault(
            ofSilence: timekeeper.elapsed() - state.lastSuccess)
        if let failure = state.failure, silence != nil || !failure.mayPass {
            return failure.kind == .full ? DatabaseWatch.full(failure.message) : failure.message
        }
        return silence ?? watch.fault.map(DatabaseWatch.full)
    }
}

extension StoreError {
    /// Whether the next heartbeat may succeed without anybody's help.
    fileprivate var mayPass: Bool { [.busy, .full, .readOnly, .unreachable].contains(kind) }
}

extension Vault {
    /// Fails if no record of a sample can be opened. One damaged record is no reason to receive
    /// nothing.
    fileprivate func openSample() throws(StoreError) {
        var failure: StoreError?
        for record in try store.records(VaultFilter(), after: nil, limit: 10).records {
            do throws(StoreError) {
                _ = try token(of: record)
                return
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

extension ServerInstance {
    /// The same server with a row that needs 64 KiB, which no database compresses.
    fileprivate var padded: Self {
        let digits = (0..<4096).map { _ in
            UInt64.random(in: .min ... .max).description
        }
        return Self(id: id, host: host, version: "\(version) \(digits.joined())")
    }
}
