internal import SIWAApplication
internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

/// The state that the routes and the workers of one process share.
final class ServerContext: Sendable {
    /// The wall clock and the monotonic clock.
    let clocks: Clocks
    /// Writes the log of the process to standard error.
    let log: ServerLog
    /// Counts what the process does, for `GET /metrics`.
    let metrics: Metrics
    /// The clients of all profiles, as last read.
    let clients: Reloadable<ProfileClients>
    /// Apple's keys.
    let keys: AppleKeySets
    /// Apple's clock.
    let clock: AppleClock
    /// Asks Apple again after an outage.
    let outages: OutageWatch
    /// The vault, which all profiles share.
    let vault: SharedVault
    /// The database connection of the API.
    let access: StoreAccess
    /// The database connection of the workers, which must not delay callers.
    let workerAccess: StoreAccess
    /// The database connection of metrics, health and the status page.
    let monitoringAccess: StoreAccess
    let tokens: APITokens
    /// The settings in the object `server`.
    let settings: ServerSettings
    /// Exchanges codes.
    let exchanges: ExchangeService
    /// Refreshes tokens.
    let refreshes: RefreshService
    /// Accepts requests to revoke.
    let revocations: RevocationService
    /// Erases users.
    let eraser: UserEraser
    /// Carries out revocations.
    let revocationWorker: RevocationWorker
    /// Validates stored tokens; nil if that is off.
    let validationWorker: ValidationWorker?
    /// Delivers events; nil without a delivery target.
    let deliveryWorker: DeliveryWorker?
    /// Receives notifications.
    let receiver: NotificationReceiver
    /// The numbers of records in the database.
    let counts: CachedCounts
    /// The row of this server.
    let heartbeat: Heartbeat
    /// The configuration file; nil if all settings come from the environment.
    let configurationFile: String?
    /// Identifies the contents of the file that are in use.
    let configurationFingerprint: Reloadable<String?>
    /// The vault, without a password.
    let vaultPlace: String
    /// The journal of codes, which writes what must not be lost.
    let journal: CodeJournal
    /// Lets callers wait for events.
    let eventWatch: EventWatch
    /// The limit of the system that the process has reached; nil if there is none.
    let limitFault = Reloadable<String?>(nil)
    /// Why a start would fail now because of files besides the keys; empty if it would not.
    let startFaults = Reloadable<[String]>([])
    /// Why the private keys in their files cannot be used, by profile.
    let keyFaults = Reloadable<[String: String]>([:])
    /// Why the last reload failed; empty if it did not.
    let reloadFaults = Reloadable<[String]>([])
    /// Where it listens.
    let addresses = Reloadable<[String]>([])
    /// Why clients cannot connect to a listener; empty if they can.
    let listenerFaults = Reloadable<[String]>([])
    /// The files that were changed since they were read.
    let changedFiles = Reloadable<[String]>([])
    /// The certificates of the listeners that have one.
    let certificates = Reloadable<[ServerFacts.Expiry]>([])
    /// How messages name files and commands.
    let words: ServiceWords
    /// Parses the tokens of `/v1/verify`.
    let tokenReader = SharedJWSReader()
    /// Writes the results of `/v1/verify`.
    let verdicts = Mutex(VerdictWriter())

    /// The dependencies of a context.
    struct Parts: Sendable {
        var clocks: Clocks
        var log: ServerLog
        var metrics: Metrics
        var clients: Reloadable<ProfileClients>
        var keys: AppleKeySets
        var clock: AppleClock
        var vault: SharedVault
        var access: StoreAccess
        var workerAccess: StoreAccess
        /// The database connection of the daily validation; nil if it is off.
        var validationAccess: StoreAccess?
        /// The database connection of notifications.
        var receivingAccess: StoreAccess
        /// The database connection of metrics, health and the status page.
        var monitoringAccess: StoreAccess
        /// The row of this server.
        var heartbeat: Heartbeat
        /// The configuration file; nil if all settings come from the environment.
        var configurationFile: String?
        /// Identifies the contents of the file.
        var configurationFingerprint: String?
        /// The vault, without a password.
        var vaultPlace: String
        var settings: ServerSettings
        /// How messages name files and commands.
        var words = ServiceWords.none
        /// How events are delivered; nil if they are not delivered.
        var delivery: Delivery?
        /// Where tokens are kept while they wait to be stored; nil to keep them in memory.
        var keeper: TokenKeeper?
        /// Identifies this run of this process.
        var owner: String
    }

    /// How events are delivered.
    struct Delivery: Sendable {
        /// The application's URL and the secrets that sign.
        let settings: Reloadable<DeliveryWorker.Settings>
        /// The transport to the application.
        let transport: any Transport
    }

    /// Creates the services.
    init(_ parts: Parts) {
        (clocks, log, metrics) = (parts.clocks, parts.log, parts.metrics)
        (clients, keys, clock, vault) = (parts.clients, parts.keys, parts.clock, parts.vault)
        (access, workerAccess) = (parts.access, parts.workerAccess)
        monitoringAccess = parts.monitoringAccess
        (settings, words) = (parts.settings, parts.words)
        receiver = NotificationReceiver(parts)
        outages = OutageWatch(
            parts.metrics, clients: { [clients] in clients.current }, clock: parts.clock)
        let (clocks, clients, owner) = (parts.clocks, parts.clients, parts.owner)
        let log: ServiceLog = { [log] event in log(event) }
        tokens = APITokens(parts.access, clocks: clocks, log: log)
        heartbeat = parts.heartbeat
        (configurationFile, vaultPlace) = (parts.configurationFile, parts.vaultPlace)
        configurationFingerprint = Reloadable(parts.configurationFingerprint)
        let journal = CodeJournal(
            parts.access, parts.vault, keeper: parts.keeper, clocks: clocks, owner: owner, log: log)
        self.journal = journal
        exchanges = ExchangeService(
            journal, keys: { [keys] keyID in await keys.keysForExchange(holding: keyID) },
            clients: { clients.current }, clock: parts.clock, clocks: clocks, log: log)
        refreshes = RefreshService(
            parts.access, parts.vault, clients: { clients.current }, clocks: clocks, log: log)
        revocationWorker = RevocationWorker(
            parts.workerAccess, parts.vault, journal, clients: { clients.current },
            events: parts.settings.revocationEvents, clocks: clocks, owner: owner, log: log)
        eraser = UserEraser(parts.access, journal, events: parts.settings.revocationEvents)
        revocations = RevocationService(
            parts.access, parts.vault, revocationWorker, clients: { clients.current },
            clocks: clocks)
        let arrival = receiver.arrival
        deliveryWorker = parts.delivery.map { delivery in
            DeliveryWorker(
                parts.workerAccess, { delivery.settings.current }, transport: delivery.transport,
                clocks: clocks, owner: owner, wake: arrival, log: log)
        }
        counts = CachedCounts(parts.monitoringAccess, parts.clocks.timekeeper)
        validationWorker = parts.validationWorker(counts, arrival, log)
        let access = parts.access
        eventWatch = EventWatch(clocks.timekeeper) {
            try? await access.run { store throws(StoreError) in try store.newestEvent() }
        }
    }
}

extension ServerContext.Parts {
    /// The worker of the daily validation; nil if that is off.
    ///
    /// - Parameter arrival: notified when an event waits for its delivery.
    fileprivate func validationWorker(
        _ counts: CachedCounts, _ arrival: WakeSignal, _ log: @escaping ServiceLog
    ) -> ValidationWorker? {
        guard let validation = settings.validation, let access = validationAccess else {
            return nil
        }
        let clients = clients
        return ValidationWorker(
            validation, access, vault, counts: counts, clients: { clients.current },
            events: settings.revocationEvents, clocks: clocks, metrics: metrics,
            arrival: arrival, log: log)
    }
}
