internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
internal import SIWAVaultRecords
internal import Synchronization

/// Validates stored tokens once a day, spread over the day, by the rules of `siwa batch refresh
/// --vault`: a run for each client, which all servers on the database share by leases.
final class ValidationWorker: Sendable {
    let settings: ValidationSettings
    /// The database, with threads for calls that may block.
    let access: StoreAccess
    let vault: SharedVault
    let clocks: Clocks
    let events: RevocationEvents
    let log: ServiceLog
    /// Notified when runs have more to do, or are to end.
    let wake = WakeSignal()
    private let clients: @Sendable () -> ProfileClients
    private let counts: CachedCounts
    private let metrics: Metrics
    /// Notified when an event waits for its delivery.
    private let arrival: WakeSignal
    private let runs = BackgroundTasks()
    private let state: Mutex<State>

    private struct State {
        var progress = ValidationProgress()
        var pace: ValidationPace
        var isStopping = false
    }

    /// - Parameters:
    ///   - clients: returns the clients of the current settings.
    ///   - events: what happens to tokens that are found dead.
    ///   - arrival: notified when an event waits for its delivery.
    init(
        _ settings: ValidationSettings, _ access: StoreAccess, _ vault: SharedVault,
        counts: CachedCounts, clients: @escaping @Sendable () -> ProfileClients,
        events: RevocationEvents, clocks: Clocks, metrics: Metrics, arrival: WakeSignal,
        log: @escaping ServiceLog
    ) {
        (self.settings, self.access, self.vault) = (settings, access, vault)
        (self.counts, self.clients, self.events) = (counts, clients, events)
        (self.clocks, self.metrics, self.arrival, self.log) = (clocks, metrics, arrival, log)
        state = Mutex(State(pace: ValidationPace(settings: settings)))
    }

    /// Validates until the task is cancelled. Runs then end early; see ``drain()``.
    func run() async {
        while !Task.isCancelled {
            await look()
            try? await clocks.timekeeper.sleep(min(settings.interval / 120, .seconds(60)))
        }
        state.withLock { $0.isStopping = true }
        wake.notify()
    }

    /// Waits for the runs, which end early once ``run()`` is cancelled.
    func drain() async {
        state.withLock { $0.isStopping = true }
        wake.notify()
        await runs.drain()
    }

    /// Whether runs are to end.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// How fast a run may go.
    var pace: ValidationPace { state.withLock { $0.pace } }

    /// What the status shows.
    var facts: ServerFacts.Validation { state.withLock { $0.progress.facts(settings) } }

    /// Begins with the clients of the current pass that have work left.
    private func look() async {
        let settings = settings
        do throws(StoreError) {
            let pass = try await access.run { store throws(StoreError) in
                try store.validationPass(every: settings.interval)
            }
            let tokens = try await counts.current().tokens.compactMapValues { $0[.active] }
            let clients = clients()
            let now = clocks.timekeeper.elapsed()
            let due = state.withLock { state in
                (state.pace.tokens, state.pace.servers) = (tokens, pass.servers)
                state.progress.take(pass)
                return clients.clientIDs.filter {
                    !state.isStopping && state.progress.begin($0, pass, at: now)
                }
            }
            for client in due.compactMap({ clients[$0] }) {
                runs.start { await self.validate(client, pass) }
            }
        } catch {
            log(.databaseFailed(error))
        }
    }
}

// The runs.
extension ValidationWorker {
    private func validate(_ client: ProfileClient, _ pass: ValidationPass) async {
        do throws(StoreError) {
            let end = try await ValidationRun(client, pass, by: self).carryOut()
            note(end, of: client, pass)
        } catch {
            access.note(error)
            log(.databaseFailed(error))
            stop(client, pass, .database, error.message, after: min(pause, .seconds(30)))
        }
    }

    private func note(_ end: BatchEnd, of client: ProfileClient, _ pass: ValidationPass) {
        let clientID = client.clientID
        switch end {
        case .completed:
            state.withLock { $0.progress.complete(clientID, pass) }
            log(
                ServiceEvent(
                    .info, "validation_completed", [.init("since", .string(pass.began.rfc3339))],
                    about: LogSubject(clientID: clientID)))
        case .interrupted: state.withLock { $0.progress.interrupt(clientID) }
        case .tooManyRefused(let refused, let count):
            stop(
                client, pass, .tooManyRefused,
                "Apple refused \(refused) of the last \(count) tokens", after: nil)
        case .stopped(let cause):
            let failure = TokenFailure(cause: cause, request: .refresh, attempts: 1)
            stop(client, pass, .client, client.diagnosis(of: failure).message, after: pause * 6)
        case .gaveUp(let cause):
            let failure = TokenFailure(cause: cause, request: .refresh, attempts: 1)
            stop(client, pass, .noAnswer, client.diagnosis(of: failure).message, after: pause)
        case .askedToWait(let wait):
            stop(
                client, pass, .noAnswer, "Apple asks for a wait of \(wait.words(units: 1))",
                after: max(wait, pause))
        }
    }

    /// - Parameter pause: the time until the client is tried again; nil for the next pass.
    private func stop(
        _ client: ProfileClient, _ pass: ValidationPass, _ reason: ValidationStop, _ fault: String,
        after pause: Duration?
    ) {
        let clientID = client.clientID
        let moment = pause.map { clocks.timekeeper.elapsed() + $0 }
        // The database is a problem of its own while it fails, and none when it works again.
        let shown = reason == .database ? nil : fault
        state.withLock { $0.progress.stop(clientID, pass, shown, until: moment) }
        metrics.countValidationStop(reason)
        log(
            ServiceEvent(
                .error, "validation_stopped",
                [.init("code", .string(reason.rawValue)), .init("reason", .string(fault))],
                about: LogSubject(clientID: clientID)))
    }

    /// The pause after a run that got no answers: ten minutes of a day.
    private var pause: Duration { settings.interval / 144 }

    /// Counts results that the vault has noted.
    func count(_ results: [LeasedResult<ValidationResult>], of clientID: ClientID) {
        state.withLock { state in
            for result in results { state.progress.count(result.report, of: clientID) }
        }
        for result in results { metrics.countValidation(result.report) }
        let dead = results.filter { $0.report == .dead }
        for record in dead.compactMap(\.record) {
            log(
                ServiceEvent(
                    .info, "token_dead", [],
                    about: LogSubject(
                        clientID: clientID, userID: record.user.userID,
                        fingerprint: record.id.fingerprint.rawValue)))
        }
        if !dead.isEmpty { arrival.notify() }
    }
}
