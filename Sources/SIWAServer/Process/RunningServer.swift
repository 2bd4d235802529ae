internal import HTTPServer
internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACLI
internal import ServerRecords

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
    func run() async {
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
        await drain(workers)
        watch.cancel()
        context.log(.info, "stopped")
    }

    private func startWorkers() -> [Task<Void, Never>] {
        let (context, timekeeper) = (context, context.clocks.timekeeper)
        var tasks = [
            Task { await context.keys.keepFresh(timekeeper) },
            Task { await context.receiver.verifyWaiting() },
            Task { await context.revocationWorker.run() },
            Task { await context.keepPurging() },
            Task { await context.journal.keepErasing() },
        ]
        if let worker = context.deliveryWorker { tasks.append(Task { await worker.run() }) }
        return tasks
    }

    /// The time limit of the work in progress, except for exchanges that were sent.
    private static let drainTime = Duration.seconds(10)

    private func drain(_ workers: [Task<Void, Never>]) async {
        for listener in listeners { listener.server.stopAccepting() }
        for worker in workers { worker.cancel() }
        let timekeeper = context.clocks.timekeeper
        let deadline = Deadline(after: Self.drainTime, by: timekeeper)
        while deadline.remaining > .zero,
            listeners.contains(where: { $0.server.requestCount > 0 })
        {
            try? await timekeeper.sleep(.milliseconds(20))
        }
        let drained = WakeSignal()
        Task { [context] in
            await context.drain()
            drained.notify()
        }
        await drained.wait(after: 0, atMost: max(deadline.remaining, .zero))
        await context.drainCodes()
        for listener in listeners { await listener.server.stop() }
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
            world.serviceManager.notify(.ready)
        }
    }
}

extension ServerContext {
    /// Waits for the work that can be done again after a restart.
    func drain() async {
        await refreshes.drain()
        await revocationWorker.drain()
        await deliveryWorker?.drain()
    }

    /// Waits for the work that cannot be done again: codes that were sent to Apple.
    func drainCodes() async {
        await revocationWorker.drainCodes()
        await exchanges.drain()
    }

    /// Deletes rows whose retention is over, once an hour. Runs until cancelled.
    func keepPurging() async {
        while !Task.isCancelled {
            await purge()
            try? await clocks.timekeeper.sleep(.seconds(3600))
        }
    }

    private func purge() async {
        let retention = Retention(events: settings.keep)
        let limit = 500
        var deleted = limit
        while deleted >= limit, !Task.isCancelled {
            do throws(VaultError) {
                deleted = try await workerAccess.run { store throws(VaultError) in
                    try store.purge(retention, limit: limit)
                }
            } catch {
                return log(.databaseFailed(error))
            }
        }
    }
}
