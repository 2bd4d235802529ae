internal import HTTPServer
internal import JOSE
internal import Lifecycle
internal import LocalFiles
internal import SIWACLI
internal import SIWACrypto

/// The server before its listeners are opened: the settings are read and the database is open.
struct LoadedServer: Sendable {
    let context: ServerContext
    private let configurationFile: String?
    private let delivery: LoadedDelivery?
    private let database: OpenDatabase
    private let vaultPlace: ServedConfiguration.VaultPlace

    /// - Parameter configurationFile: if nil, the configuration is searched for as `siwa` does.
    /// - Throws: ``Diagnosis``.
    init(_ configurationFile: String?, in world: ServerWorld) throws(Diagnosis) {
        self.configurationFile = configurationFile
        let base = world.base
        let configuration = try ServedConfiguration(configurationFile, in: base)
        let settings = try ServerSettings(configuration, variables: base.variables)
        let log = ServerLog(
            now: base.clocks.now, showsUserIDs: settings.logsUserIDs, write: base.errorLine)
        let metrics = Metrics(notificationPath: settings.path)
        let clients = try Self.clients(configuration, metrics, base)
        delivery = try settings.delivery.map { delivery throws(Diagnosis) in
            try LoadedDelivery(delivery, in: world)
        }
        vaultPlace = try configuration.vaultPlace()
        database = try OpenDatabase(configuration, in: base)
        let warnings = configuration.warnings + [settings.withoutListeners].compactMap(\.self)
        for warning in warnings { log(.warning, "configuration", [warning.member]) }
        context = ServerContext(
            ServerContext.Parts(
                clocks: base.clocks, log: log, metrics: metrics, clients: Reloadable(clients),
                keys: try Self.keys(settings, clients, log, base), vault: database.vault,
                access: database.api, workerAccess: database.workers,
                receivingAccess: database.receiving, monitoringAccess: database.monitoring,
                settings: settings,
                delivery: delivery?.parts, owner: world.owner))
    }

    /// Reads the clients, and mints a client_secret for each.
    static func clients(
        _ configuration: ServedConfiguration, _ metrics: Metrics, _ world: World
    ) throws(Diagnosis) -> ProfileClients {
        // All profiles share the limit.
        let slots = RequestSlots(timekeeper: world.clocks.timekeeper)
        let all = try configuration.clients { profile, transport in
            LimitedTransport(
                AppleRequestMeter(transport, of: profile, metrics, world.clocks.timekeeper), slots)
        }
        do {
            for client in all { _ = try client.secret(at: world.clocks.now()) }
        } catch {
            throw Diagnosis(error)
        }
        let clients = ProfileClients(all, standard: configuration.standardProfile)
        try clients.checkDistinct()
        return clients
    }

    private static func keys(
        _ settings: ServerSettings, _ clients: ProfileClients, _ log: ServerLog, _ world: World
    ) throws(Diagnosis) -> AppleKeySets {
        guard let path = settings.keySetFile else {
            return AppleKeySets(now: world.clocks.now, fetch: clients.fetchKeys)
        }
        log(
            .warning, "jwks_file",
            ["Apple's keys are read from \(path): anyone who can write it can forge tokens".member])
        return AppleKeySets(now: world.clocks.now, fixed: try KeySet(file: path, in: world))
    }

    /// Reloads profiles, keys, TLS files and secrets. A file that cannot be used is logged, and its
    /// old contents stay in use.
    func reload(_ listeners: [OpenListener], in world: ServerWorld) {
        let log = context.log
        var faults = 0
        func attempt(_ body: () throws(Diagnosis) -> Void) {
            do throws(Diagnosis) {
                try body()
            } catch {
                faults += 1
                log(.error, "reload_failed", Problem(error))
            }
        }
        attempt { () throws(Diagnosis) in try reloadSettings(world) }
        for listener in listeners {
            attempt { () throws(Diagnosis) in try listener.reload(in: world.base) }
        }
        attempt { () throws(Diagnosis) in
            do {
                try context.vault.renew()
            } catch {
                throw Diagnosis(error)
            }
        }
        log(faults == 0 ? .info : .warning, "reloaded", [.init("faults", .integer(faults))])
    }

    private func reloadSettings(_ world: ServerWorld) throws(Diagnosis) {
        let base = world.base
        let configuration = try ServedConfiguration(configurationFile, in: base)
        let settings = try ServerSettings(configuration, variables: base.variables)
        let clients = try Self.clients(configuration, context.metrics, base)
        let vaultPlace = try configuration.vaultPlace()
        if let path = settings.keySetFile, context.keys.isFixed {
            context.keys.replace(with: try KeySet(file: path, in: base))
        }
        if let new = settings.delivery { try delivery?.reload(new, in: world) }
        context.clients.replace(with: clients)
        context.keys.replace(fetching: clients.fetchKeys)
        context.receiver.reload()
        Task { [context] in await context.revocationWorker.resume() }
        if settings.needsRestart(from: context.settings) || vaultPlace != self.vaultPlace {
            context.log(
                .warning, "restart_needed",
                ["changed listeners, paths, limits and vault take effect after a restart".member])
        }
    }
}

extension String {
    /// The member `message` of a log line.
    fileprivate var member: JSON.Member { .init("message", .string(self)) }
}

extension ProfileClients {
    /// Fetches Apple's keys with the connection settings of the first profile.
    fileprivate var fetchKeys: AppleKeySets.Fetch {
        let client = standard ?? all.first
        return { () async throws(TokenFailure) in
            guard let client else { return nil }
            return try await KeySetClient(
                baseURL: client.baseURL, delivery: client.delivery()
            ).fetch().keySet
        }
    }
}

extension KeySet {
    fileprivate init(file path: String, in world: World) throws(Diagnosis) {
        let body: [UInt8]
        do {
            body = try world.files.read(path).contents.revealed()
        } catch {
            throw Diagnosis(
                "configuration", "server.jwks_file: \(error)",
                hints: ["give a file that contains Apple's JWK Set"], exitCode: .settings)
        }
        guard let keySet = KeySet(body) else {
            throw Diagnosis(
                "configuration",
                "server.jwks_file: '\(path)' is not a JWK Set with an RSA key of 2048 bits or more",
                hints: ["Apple's is at https://appleid.apple.com/auth/keys"], exitCode: .settings)
        }
        self = keySet
    }
}
