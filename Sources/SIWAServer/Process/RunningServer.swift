internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem

/// siwa-server with open listeners.
struct RunningServer: Sendable {
    private let loaded: LoadedServer
    private let listeners: [OpenListener]
    private let context: ServerContext
    private let world: ServerWorld

    /// Opens the listeners.
    ///
    /// - Throws: ``Diagnosis``.
    init(_ loaded: LoadedServer, in world: ServerWorld) throws(Diagnosis) {
        (self.loaded, self.world, context) = (loaded, world, loaded.context)
        let settings = context.settings
        var listeners: [OpenListener] = []
        for listener in RouteTable.Listener.allCases {
            guard let own = settings.listener(listener) else { continue }
            let table: RouteTable =
                switch listener {
                case .notifications: .notifications(path: settings.path)
                case .api: .api
                case .metrics: .metrics
                }
            listeners.append(try OpenListener(table, own, context, in: world))
        }
        self.listeners = listeners
    }

    /// Serves until a signal ends the process, and then finishes the work in progress.
    ///
    /// - Returns: whether all tokens are stored or saved.
    func run() async -> Bool {
        world.serviceManager.notify(.ready)
        context.log(
            .info, "started",
            [
                .init("version", .string(version)),
                .init(
                    "listeners",
                    .object(listeners.map { .init($0.listener.rawValue, .string($0.address)) })),
            ])
        let workers = startWorkers()
        let watch = Task { await watchLoops() }
        let reloads = Task { await reloadOnRequest() }
        await world.stop.wait(after: 0)
        world.serviceManager.notify(.stopping)
        context.log(.info, "stopping")
        reloads.cancel()
        let isSaved = await drain(workers)
        watch.cancel()
        context.log.writeOmitted(at: nil)
        context.log(.info, "stopped")
        return isSaved
    }

    private func startWorkers() -> [Task<Void, Never>] {
        let (context, timekeeper) = (context, context.clocks.timekeeper)
        var tasks = [
            Task { await context.heartbeat.run { await facts() } },
            Task { await context.keepCountingTokens() },
            Task {
                await context.keys.keepFresh(timekeeper) { context.warnOfOldKeys($0) }
            },
            Task { await context.receiver.verifyWaiting() },
            Task { await context.revocationWorker.run() },
            Task { await context.keepPurging() },
            Task { await context.keepSecretsSigned() },
            Task { await context.journal.keepErasing() },
            Task { await context.log.keepCountingOmitted(timekeeper) },
        ]
        if let worker = context.deliveryWorker { tasks.append(Task { await worker.run() }) }
        if let worker = context.validationWorker { tasks.append(Task { await worker.run() }) }
        return tasks
    }

    /// The time limits of the end, since the signal; the watchdog of `serve` comes later.
    private enum EndLimit {
        /// Requests and work that can be done again.
        static let work = Duration.seconds(10)
        /// Codes that were sent to Apple.
        static let codes = Duration.seconds(37)
        /// What the database did not take before.
        static let writes = Duration.seconds(40)
        static let connections = Duration.seconds(42)
    }

    /// Finishes the work in progress.
    ///
    /// - Returns: whether all tokens are stored or saved.
    private func drain(_ workers: [Task<Void, Never>]) async -> Bool {
        let (context, listeners, timekeeper) = (context, listeners, context.clocks.timekeeper)
        let start = timekeeper.elapsed()
        func left(_ limit: Duration) -> Duration {
            max(limit - (timekeeper.elapsed() - start), .zero)
        }
        for listener in listeners { listener.server.stopAccepting() }
        for worker in workers { worker.cancel() }
        context.eventWatch.stop()
        while left(EndLimit.work) > .zero,
            listeners.contains(where: { $0.server.requestCount > 0 })
        {
            try? await timekeeper.sleep(.milliseconds(20))
        }
        await bounded(left(EndLimit.work)) { await context.drain() }
        await bounded(left(EndLimit.codes)) { await context.drainSent() }
        // At least one more attempt, which a silent database may hold up.
        let writes = min(max(left(EndLimit.work), .seconds(6)), left(EndLimit.writes))
        await bounded(writes) { await context.journal.drain() }
        let isSaved = loaded.saveTokens()
        await bounded(left(EndLimit.connections)) {
            for listener in listeners { await listener.server.stop() }
        }
        await bounded(.seconds(1)) { await context.heartbeat.end() }
        await bounded(.seconds(2)) { await loaded.closeDatabase() }
        return isSaved
    }

    /// Waits for the end of `body`, at most for a time.
    private func bounded(_ limit: Duration, _ body: @escaping @Sendable () async -> Void) async {
        let ended = WakeSignal()
        Task {
            await body()
            ended.notify()
        }
        await ended.wait(after: 0, atMost: limit)
    }

    /// Notifies the service manager's watchdog while the event loops are running, twice an
    /// interval.
    private func watchLoops() async {
        guard let interval = world.serviceManager.watchdogInterval else { return }
        while !Task.isCancelled {
            if listeners.allSatisfy({ $0.server.isAlive(within: interval / 2 + .seconds(2)) }) {
                world.serviceManager.notify(.alive)
            }
            try? await context.clocks.timekeeper.sleep(interval / 4)
        }
    }

    private func reloadOnRequest() async {
        var seen = 0
        while !Task.isCancelled {
            await world.reload.wait(after: seen)
            guard !Task.isCancelled else { return }
            seen = world.reload.count
            world.serviceManager.notify(.reloading)
            loaded.reload(listeners, in: world)
            let facts = await facts()
            world.serviceManager.notify(.ready)
            // 'siwa status' just after a reload is to show what the reload met.
            await context.heartbeat.beat(facts)
        }
    }
}

extension RunningServer {
    /// What this server knows, and what is wrong with its files and listeners now.
    private func facts() async -> ServerFacts {
        Task { [context] in await context.outages.askAgain() }
        await context.revocationWorker.reviewMissingProfiles()
        do throws(FileError) {
            try requireDescriptors()
            context.limitFault.replace(with: nil)
            let files = await loaded.startFiles.examine()
            context.startFaults.replace(
                with: (files.faults + [loaded.unsavedFile.restore()].compactMap(\.self)).unique)
            context.changedFiles.replace(with: files.changes)
            context.examineKeyFiles()
        } catch {
            // That a file cannot be opened now says nothing about it.
            context.limitFault.replace(with: error.reason)
        }
        context.addresses.replace(with: listeners.map(\.address))
        context.listenerFaults.replace(with: listeners.compactMap(\.fault))
        context.certificates.replace(with: listeners.compactMap(\.certificate))
        return context.facts()
    }
}

extension ServerContext {
    /// Waits for the work that can be done again after a restart.
    func drain() async {
        async let validated: Void? = validationWorker?.drain()
        await refreshes.drain()
        await revocationWorker.drain()
        await deliveryWorker?.drain()
        _ = await validated
    }

    /// Waits for the work that cannot be done again: codes that were sent to Apple.
    func drainSent() async {
        await revocationWorker.drainSent()
        await exchanges.drainSent()
    }

    /// Deletes rows whose retention is over, and makes parked work due, once an hour. Runs until
    /// cancelled.
    func keepPurging() async {
        while !Task.isCancelled {
            await purge()
            await bringBackParked()
            try? await clocks.timekeeper.sleep(.seconds(3600))
        }
    }

    /// Counts the vault's tokens again and again, whether or not somebody asks for the counts. Runs
    /// until cancelled.
    func keepCountingTokens() async {
        while !Task.isCancelled {
            // The heartbeat reports a database that cannot be used.
            try? await workerAccess.run { store throws(StoreError) in
                try store.renewTokenCounts()
            }
            try? await clocks.timekeeper.sleep(ServerInstance.interval)
        }
    }

    private func bringBackParked() async {
        do throws(StoreError) {
            try await workerAccess.run { store throws(StoreError) in try store.bringBackParked() }
        } catch {
            log(.databaseFailed(error))
        }
    }

    private func purge() async {
        let retention = Retention(events: settings.keep)
        let limit = 500
        var deleted = limit
        while deleted >= limit, !Task.isCancelled {
            do throws(StoreError) {
                deleted = try await workerAccess.run { store throws(StoreError) in
                    try store.purge(retention, limit: limit)
                }
            } catch {
                return log(.databaseFailed(error))
            }
        }
    }
}

extension ServerContext {
    fileprivate func warnOfOldKeys(_ age: Duration) {
        log(
            .warning, "keys_stale",
            [
                .init("age_seconds", .integer(Int(age.components.seconds))),
                .init(
                    "message",
                    "Apple's keys cannot be fetched; after seven days, the old ones are not used"),
            ])
    }
}
