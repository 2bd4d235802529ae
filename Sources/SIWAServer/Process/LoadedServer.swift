internal import SIWAApplication
internal import SIWACrypto
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
internal import SIWAVaultRecords

/// The server before its listeners are opened: the settings are read and the database is open.
struct LoadedServer: Sendable {
    let context: ServerContext
    /// What a start reads, besides the keys.
    let startFiles: StartFiles
    /// Where tokens are that the database does not take.
    let unsavedFile: UnsavedTokenFile
    private let configurationFile: String?
    private let delivery: LoadedDelivery?
    private let database: OpenDatabase
    private let vaultPlace: ServedConfiguration.VaultPlace

    /// - Parameter configurationFile: if nil, the configuration is searched for as `siwa` does.
    /// - Throws: ``Diagnosis``.
    init(_ configurationFile: String?, in world: ServerWorld) throws(Diagnosis) {
        self.configurationFile = configurationFile
        startFiles = StartFiles(configurationFile, in: world)
        let base = world.base
        // Before they are read: a change that comes meanwhile is rather told in vain than missed.
        startFiles.remember(startFiles.contents())
        let inputs = try ServerInputs(configurationFile, in: world, log: base.errorLine)
        let (settings, log) = (inputs.settings, inputs.log)
        (delivery, vaultPlace) = (inputs.delivery, inputs.vaultPlace)
        database = try OpenDatabase(
            inputs.configuration,
            ServerInstance(id: world.owner, host: base.actor.host, version: version),
            isValidating: settings.validation != nil, in: base)
        unsavedFile = try UnsavedTokenFile(in: inputs.stateFolder, log, base)
        try database.announce()
        for warning in inputs.warnings { log(.warning, "configuration", [warning.member]) }
        if let warning = inputs.keySetWarning { log(.warning, "jwks_file", [warning.member]) }
        context = ServerContext(
            ServerContext.Parts(
                clocks: base.clocks, log: log, metrics: inputs.metrics,
                clients: Reloadable(inputs.clients), keys: Self.keys(inputs, base),
                clock: inputs.clock, vault: database.vault, access: database.api,
                workerAccess: database.workers, validationAccess: database.validation,
                receivingAccess: database.receiving, monitoringAccess: database.monitoring,
                heartbeat: database.heartbeat, configurationFile: inputs.configuration.path,
                configurationFingerprint: inputs.configuration.fingerprint,
                vaultPlace: withoutPassword(inputs.vaultPlace.url),
                settings: settings, words: base.words,
                delivery: delivery?.parts, keeper: try unsavedFile.keeper(database.vault, base),
                owner: world.owner))
        store(unsavedFile.saved)
    }

    /// Stores the tokens of an earlier run: now, or in the background.
    private func store(_ saved: [SavedToken]) {
        let (context, log) = (context, context.log)
        for token in saved {
            let change: DurableWrites.Change = { store throws(StoreError) in
                try token.store(
                    in: store, context.vault, context.clients.current, at: context.clocks.now()
                ) { log($0) }
            }
            do throws(StoreError) {
                try change(database.store)
            } catch {
                log(token.kept(because: error))
                context.journal.writes.storeSaved(of: token.user, change)
            }
        }
    }

    /// Saves the tokens that could not be stored, in the state folder.
    ///
    /// - Returns: whether no token is lost.
    func saveTokens() -> Bool {
        let lost = context.journal.writes.saveTokens()
        for token in lost { context.log(ServiceEvent(.error, "token_lost", about: token)) }
        return lost.isEmpty
    }

    /// Closes the database, which nothing uses any more.
    func closeDatabase() async { await database.close() }

    /// Examines the files that decide whom the server trusts.
    static func examineFiles(
        of settings: ServerSettings, _ configuration: ServedConfiguration
    ) throws(Diagnosis) {
        if let file = settings.keySetFile { try configuration.examine("the key set", file) }
        if let file = settings.delivery?.authorityFile {
            try configuration.examine("the authority file", file)
        }
        if let file = settings.delivery?.secretFile {
            try configuration.examine("the webhook secret", file, isSecret: true)
        }
    }

    /// Reads the clients, and mints a client_secret for each whose key is at hand.
    static func clients(
        _ configuration: ServedConfiguration, _ metrics: Metrics, _ clock: AppleClock,
        _ log: ServerLog, _ world: World
    ) throws(Diagnosis) -> ProfileClients {
        // All profiles share the limit.
        let slots = RequestSlots(timekeeper: world.clocks.timekeeper)
        let all = try configuration.clients(
            wrap: { profile, transport in
                LimitedTransport(
                    AppleRequestMeter(
                        clock.measuring(transport), of: profile, metrics, world.clocks),
                    slots)
            },
            watch: { profile, event in
                guard case .ended(let failure, let time) = event else { return }
                metrics.countSignature(failure, time)
                log(.signed(for: profile, failure, time))
            })
        do {
            for client in all where !client.isSignedElsewhere {
                _ = try client.secrets.expiry(at: world.clocks.now())
            }
        } catch {
            throw Diagnosis(error)
        }
        let clients = ProfileClients(all, standard: configuration.standardProfile)
        try clients.checkDistinct()
        return clients
    }

    private static func keys(_ inputs: ServerInputs, _ world: World) -> AppleKeySets {
        guard let keys = inputs.fixedKeys else {
            return AppleKeySets(now: world.clocks.now, fetch: inputs.clients.fetchKeys)
        }
        return AppleKeySets(now: world.clocks.now, fixed: keys)
    }

    /// Reloads profiles, keys, TLS files and secrets. A file that cannot be used is logged, and its
    /// old contents stay in use.
    func reload(_ listeners: [OpenListener], in world: ServerWorld) {
        let log = context.log
        let contents = startFiles.contents()
        var faults: [String] = []
        func attempt(_ body: () throws(Diagnosis) -> Void) {
            do throws(Diagnosis) {
                try body()
            } catch {
                faults.append(error.message)
                log(ServiceEvent(.error, "reload_failed", Problem(error)))
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
        if faults.isEmpty { startFiles.remember(contents) }
        context.reloadFaults.replace(with: faults)
        log(
            faults.isEmpty ? .info : .warning, "reloaded",
            [.init("faults", .integer(faults.count))])
    }

    private func reloadSettings(_ world: ServerWorld) throws(Diagnosis) {
        let base = world.base
        let configuration = try ServedConfiguration(configurationFile, in: base)
        let settings = try ServerSettings(configuration, variables: base.variables)
        try Self.examineFiles(of: settings, configuration)
        let clients = try Self.clients(
            configuration, context.metrics, context.clock, context.log, base)
        clients.adoptSecrets(of: context.clients.current)
        let vaultPlace = try configuration.vaultPlace()
        if let path = settings.keySetFile, context.keys.isFixed {
            context.keys.replace(with: try KeySet(file: path, in: base))
        }
        if let new = settings.delivery { try delivery?.reload(new, in: world) }
        context.clients.replace(with: clients)
        context.metrics.forgetClients()
        context.configurationFingerprint.replace(with: configuration.fingerprint)
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
        let client = asking
        return { () async throws(TokenFailure) in
            guard let client else { return nil }
            return try await KeySetClient(
                baseURL: client.baseURL, delivery: client.delivery()
            ).fetch().keySet
        }
    }
}

extension KeySet {
    /// Reads a file.
    ///
    /// - Throws: ``Diagnosis``.
    init(file path: String, in world: World) throws(Diagnosis) {
        let body: [UInt8]
        do {
            body = try world.files.read(path).contents.revealed()
        } catch {
            throw Diagnosis(
                .configuration, "server.jwks_file: \(error)",
                hints: error.advice(or: "give a file that contains Apple's JWK Set"),
                exitCode: .settings)
        }
        guard let keySet = KeySet(body) else {
            throw Diagnosis(
                .configuration,
                "server.jwks_file: '\(path)' is not a JWK Set with an RSA key of 2048 bits or more",
                hints: ["Apple's is at https://appleid.apple.com/auth/keys"], exitCode: .settings)
        }
        self = keySet
    }
}
