internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// What `siwa-server serve` and `siwa-server check` read before the database: settings, clients and
/// their keys, deliveries.
struct ServerInputs: Sendable {
    let configuration: ServedConfiguration
    let settings: ServerSettings
    let log: ServerLog
    let metrics: Metrics
    /// Apple's clock, which all clients measure.
    let clock: AppleClock
    let clients: ProfileClients
    let delivery: LoadedDelivery?
    /// The keys that replace Apple's; nil if they are fetched.
    let fixedKeys: KeySet?
    let vaultPlace: ServedConfiguration.VaultPlace
    /// The folder of what the server keeps between two runs.
    let stateFolder: String

    /// - Parameters:
    ///   - configurationFile: if nil, the configuration is searched for as `siwa` does.
    ///   - write: writes a line of the log.
    /// - Throws: ``Diagnosis``.
    init(
        _ configurationFile: String?, in world: ServerWorld,
        log write: @escaping @Sendable (String) -> Void
    ) throws(Diagnosis) {
        let base = world.base
        configuration = try ServedConfiguration(configurationFile, in: base)
        settings = try ServerSettings(
            configuration, variables: base.variables, words: base.words)
        try LoadedServer.examineFiles(of: settings, configuration)
        let log = ServerLog(
            now: base.clocks.now, showsUserIDs: settings.logsUserIDs, words: base.words,
            write: write)
        self.log = log
        metrics = Metrics(notificationPath: settings.path)
        clock = AppleClock(base.clocks) { log($0) }
        clients = try LoadedServer.clients(configuration, metrics, clock, log, base)
        delivery = try settings.delivery.map { delivery throws(Diagnosis) in
            try LoadedDelivery(delivery, in: world)
        }
        fixedKeys = try settings.keySetFile.map { path throws(Diagnosis) in
            try KeySet(file: path, in: base)
        }
        vaultPlace = try configuration.vaultPlace()
        stateFolder = try settings.stateFolder(
            vaultFile: try configuration.vaultFile(), base.variables, words: base.words)
    }

    /// Warnings for the operator.
    var warnings: [String] {
        configuration.warnings + configuration.keyWarnings
            + [settings.withoutListeners, settings.validation?.warning].compactMap(\.self)
    }

    /// The warning about keys that replace Apple's; nil if they are fetched.
    var keySetWarning: String? {
        settings.keySetFile.map {
            "Apple's keys are read from \($0): anyone who can write it can forge tokens"
        }
    }
}
