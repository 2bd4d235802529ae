internal import Dispatch
internal import Glibc
internal import SIWACMicroHTTPD
internal import SIWALifecycle
internal import Synchronization

/// One daemon of libmicrohttpd and the thread that drives it.
///
/// The thread also runs the tasks and callbacks that answer its requests: no other thread has to be
/// woken for them, before their first suspension or after it.
///
/// Ownership: the thread retains it while it runs, and libmicrohttpd uses it until the thread has
/// stopped the daemon.
final class EventLoop: TaskExecutor {
    /// The phases of an event loop.
    private enum Phase: Int {
        /// Accepts and serves connections.
        case serving
        /// Accepts no new connections, and ends when the last one is closed.
        case draining
        /// Ends immediately: no request is in flight.
        case stopping
    }

    /// Set before the thread starts; afterwards only the thread uses it.
    private nonisolated(unsafe) var daemon: OpaquePointer?
    /// The open connections; only the loop's thread uses them.
    private nonisolated(unsafe) var clients: [ObjectIdentifier: ClientConnection] = [:]
    /// When the loop last began to run the daemon; only its thread uses it. The deadlines of connections
    /// are counted from it: reading the clock for each would take longer than setting them.
    private(set) nonisolated(unsafe) var now = ContinuousClock.now
    /// How often the daemon was run; only the loop's thread uses it.
    private(set) nonisolated(unsafe) var runs = 0
    /// The last run during which a response was ready at once.
    private nonisolated(unsafe) var runOfResponse = 0
    private nonisolated(unsafe) var lastSweep = ContinuousClock.now
    private let phase = Atomic(Phase.serving.rawValue)
    /// The listening socket, once the loop accepts no more connections; closed when the loop ends.
    private nonisolated(unsafe) var quietSocket: CInt?
    /// When the loop last completed an iteration, in milliseconds since the process started.
    private let lastTurn = Atomic(0)
    private let handling: RequestHandling
    private let ended = WakeSignal()
    /// The event descriptor with which other threads wake the loop.
    private let alarm: Descriptor
    /// Whether the alarm was used since the loop last waited.
    private let isWoken = Atomic(false)
    /// The thread, once it runs.
    private let thread = Atomic<pthread_t>(0)
    private let jobs = Mutex(Jobs())

    /// What has to be done next on the loop's thread.
    private struct Jobs {
        var waiting: [Job] = []
        /// Whether the thread takes no more jobs.
        var isOver = false

        mutating func next() -> Job? { waiting.isEmpty ? nil : waiting.removeFirst() }
    }

    private enum Job: Sendable {
        /// A part of a task.
        case task(UnownedJob)
        case call(@Sendable () -> Void)
    }

    /// Accepts connections from a socket; the loop is running when this returns.
    init(
        _ socket: consuming Descriptor, _ identity: TLSIdentity?, sendsDate: Bool,
        connections: Int, _ handling: RequestHandling
    ) throws(ServerError) {
        self.handling = handling
        alarm = Descriptor(adopting: siwa_alarm())
        guard alarm.number >= 0 else { throw .notStarted }
        let limits = siwa_limits(
            connections: CUnsignedInt(connections),
            idle_seconds: CUnsignedInt(handling.limits.idleTime.components.seconds),
            // Memory for the response's header section and libmicrohttpd's bookkeeping only,
            // because it is cleared after each request.
            memory_bytes: handling.limits.headerBytes + 8 << 10)
        // libmicrohttpd owns the socket from here on, even if it fails to start.
        daemon = siwa_start_daemon(
            socket.release(), identity?.certificate, identity?.key, limits, sendsDate ? 1 : 0,
            callbacks(for: self))
        guard daemon != nil else { throw identity == nil ? .notStarted : .identity }
        beat()
        guard startThread() else {
            MHD_stop_daemon(daemon)
            throw .notStarted
        }
    }

    private func startThread() -> Bool {
        var thread = pthread_t()
        let owner = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { owner in
                if let owner { Unmanaged<EventLoop>.fromOpaque(owner).takeRetainedValue().run() }
                return nil
            }, owner.toOpaque())
        guard code == 0 else {
            owner.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Stops accepting connections; the loop ends when the last one is closed.
    func drain() {
        _ = phase.compareExchange(
            expected: Phase.serving.rawValue, desired: Phase.draining.rawValue,
            ordering: .relaxed)
        wake()
    }

    /// Sends the responses that are ready, closes all connections and ends the loop; no request may be
    /// in flight.
    func stop() async {
        phase.store(Phase.stopping.rawValue, ordering: .relaxed)
        wake()
        await ended.wait(after: 0)
    }

    /// The time since the loop last completed an iteration.
    var silence: Duration {
        .milliseconds(Self.milliseconds() - lastTurn.load(ordering: .relaxed))
    }

    /// The longest iteration of a loop that works.
    static let longestWait = Duration.seconds(1)

    /// Wakes the loop after a connection was resumed or a task became ready, or to end the loop.
    func wake() {
        // A loop that was woken but has not started to work yet will notice this as well.
        guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
        siwa_wake(alarm.number)
    }

    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        let wait = Int32(Self.longestWait / .milliseconds(1))
        var rounds = 0
        while !isOver {
            var state = siwa_wait(daemon, alarm.number, 0)
            rounds += 1
            if state == 0 || rounds == Self.roundsPerTurn {
                handling.endTurn()
                rounds = 0
            }
            if state == 0 { state = siwa_wait(daemon, alarm.number, wait) }
            if state < 0 { break }
            _ = isWoken.exchange(false, ordering: .acquiringAndReleasing)
            runJobs()
            now = .now
            guard runDaemon() else { break }
            beat()
            closeLateConnections()
        }
        handling.endTurn()
        jobs.withLock { $0.isOver = true }
        runJobs()
        // libmicrohttpd asks for the responses that are ready, and sends them when it is run again.
        if phase.load(ordering: .relaxed) == Phase.stopping.rawValue {
            for _ in 0..<2 { _ = runDaemon() }
        }
        MHD_stop_daemon(daemon)
        if let quietSocket { close(quietSocket) }
        ended.notify()
    }

    private func runDaemon() -> Bool {
        if isDraining, quietSocket == nil { quietSocket = MHD_quiesce_daemon(daemon) }
        runs += 1
        return MHD_run(daemon) == .YES
    }

    /// Whether a response that is ready now is sent during this run of the daemon: only the first one
    /// is.
    ///
    /// During the next run, libmicrohttpd asks for the others, and then sends them together. A client
    /// of several connections is woken for all of them at once, which takes longer than sending.
    func sendsNow() -> Bool {
        defer { runOfResponse = runs }
        return runOfResponse != runs
    }

    /// How often the daemon is run before a turn ends, while there is always something to do.
    private static let roundsPerTurn = 4

    /// Runs the jobs until all tasks wait. Called on the loop's thread.
    func runJobs() {
        while let job = jobs.withLock({ $0.next() }) {
            switch job {
            case .task(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .call(let body): body()
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isOver = jobs.withLock { jobs in
            if !jobs.isOver { jobs.waiting.append(.task(job)) }
            return jobs.isOver
        }
        if isOver {
            // The client has left; what the task does besides answering is still done.
            DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        } else if !isOwnThread {
            // The loop's own thread checks again before it waits.
            wake()
        }
    }

    /// Calls a function on the loop's thread: at once, if this is that thread, or if the loop has ended.
    func perform(_ body: @escaping @Sendable () -> Void) {
        let mustWait =
            !isOwnThread
            && jobs.withLock { jobs in
                if !jobs.isOver { jobs.waiting.append(.call(body)) }
                return !jobs.isOver
            }
        if mustWait { wake() } else { body() }
    }

    private var isOwnThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Whether each connection is closed after its next response.
    var isDraining: Bool { phase.load(ordering: .relaxed) != Phase.serving.rawValue }

    private var isOver: Bool {
        switch Phase(rawValue: phase.load(ordering: .relaxed)) {
        case .serving: false
        case .draining: clients.isEmpty
        case .stopping, nil: true
        }
    }

    private func beat() { lastTurn.store(Self.milliseconds(), ordering: .relaxed) }

    private static func milliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    // MARK: Callbacks, on the loop's thread

    /// Called when a connection was opened or closed.
    func note(
        _ change: MHD_ConnectionNotificationCode, of connection: Connection,
        _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) {
        switch change {
        case .CONNECTION_NOTIFY_STARTED:
            let client = ClientConnection(
                of: self, peer: connection.peer, socket: connection.socket,
                requestTime: handling.limits.requestTime, idleTime: handling.limits.idleTime)
            clients[ObjectIdentifier(client)] = client
            context.pointee = Unmanaged.passUnretained(client).toOpaque()
        case .CONNECTION_NOTIFY_CLOSED:
            guard let pointer = context.pointee else { return }
            let client = Unmanaged<ClientConnection>.fromOpaque(pointer).takeUnretainedValue()
            clients[ObjectIdentifier(client)] = nil
            context.pointee = nil
        }
    }

    /// Called when a request line was received.
    func begin(_ target: UnsafePointer<CChar>, on connection: Connection) -> Exchange {
        connection.client?.beginRequest(within: handling.limits.requestTime)
        return Exchange(target: target, in: handling)
    }

    /// Checks the deadlines once a second.
    private func closeLateConnections() {
        guard lastSweep.duration(to: now) >= Self.longestWait else { return }
        lastSweep = now
        for client in clients.values { client.closeIfLate(at: now) }
    }
}
