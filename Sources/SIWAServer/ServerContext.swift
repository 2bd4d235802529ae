internal import JOSE
package import Lifecycle
internal import SIWACLI
internal import ServerRecords
internal import Synchronization

/// The state that the routes and the workers of one process share.
package final class ServerContext: Sendable {
    /// The wall clock and the monotonic clock.
    package let clocks: Clocks
    /// Writes the log of the process to standard error.
    package let log: ServerLog
    /// Counts what the process does, for `GET /metrics`.
    package let metrics: Metrics
    /// The clients of all profiles, as last read.
    package let clients: Reloadable<ProfileClients>
    /// Apple's keys.
    package let keys: AppleKeySets
    /// The vault, which all profiles share.
    package let vault: SharedVault
    /// The database connection of the API.
    package let access: StoreAccess
    /// The database connection of the workers, which must not delay callers.
    package let workerAccess: StoreAccess
    /// The database connection of metrics, health and the status page.
    let monitoringAccess: StoreAccess
    /// The API tokens.
    package let tokens: APITokens
    /// The settings in the object `server`.
    package let settings: ServerSettings
    /// Exchanges codes.
    package let exchanges: ExchangeService
    /// Refreshes tokens.
    package let refreshes: RefreshService
    /// Accepts requests to revoke.
    package let revocations: RevocationService
    /// Erases users.
    let eraser: UserEraser
    /// The journal of codes.
    let journal: CodeJournal
    /// Carries out revocations.
    let revocationWorker: RevocationWorker
    /// Delivers events; nil without a delivery target.
    let deliveryWorker: DeliveryWorker?
    /// Receives notifications.
    let receiver: NotificationReceiver
    /// The numbers of records in the database.
    let counts: CachedCounts
    /// Parses the tokens of `/v1/verify`.
    let tokenReader = SharedJWSReader()
    /// Writes the results of `/v1/verify`.
    let verdicts = Mutex(VerdictWriter())

    /// The dependencies of a context.
    package struct Parts: Sendable {
        package var clocks: Clocks
        package var log: ServerLog
        package var metrics: Metrics
        package var clients: Reloadable<ProfileClients>
        package var keys: AppleKeySets
        package var vault: SharedVault
        package var access: StoreAccess
        package var workerAccess: StoreAccess
        /// The database connection of notifications.
        package var receivingAccess: StoreAccess
        /// The database connection of metrics, health and the status page.
        package var monitoringAccess: StoreAccess
        package var settings: ServerSettings
        /// How events are delivered; nil if they are not delivered.
        package var delivery: Delivery?
        /// Identifies this run of this process.
        package var owner: String
    }

    /// How events are delivered.
    package struct Delivery: Sendable {
        /// The application's URL and the secrets that sign.
        package let settings: Reloadable<DeliveryWorker.Settings>
        /// The transport to the application.
        package let transport: any Transport
    }

    /// Creates the services.
    package init(_ parts: Parts) {
        (clocks, log, metrics) = (parts.clocks, parts.log, parts.metrics)
        (clients, keys, vault) = (parts.clients, parts.keys, parts.vault)
        (access, workerAccess) = (parts.access, parts.workerAccess)
        monitoringAccess = parts.monitoringAccess
        settings = parts.settings
        receiver = NotificationReceiver(parts)
        let (clocks, clients, owner) = (parts.clocks, parts.clients, parts.owner)
        let log: ServiceLog = { [log] event in log(event) }
        tokens = APITokens(parts.access, clocks: clocks, log: log)
        let journal = CodeJournal(
            parts.access, parts.vault, clocks: clocks, owner: owner, log: log)
        self.journal = journal
        exchanges = ExchangeService(
            journal, keys: { [keys] keyID in await keys.keysForExchange(holding: keyID) },
            clocks: clocks, log: log)
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
    }
}
