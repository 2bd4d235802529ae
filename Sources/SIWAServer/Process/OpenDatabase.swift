internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
internal import SIWAVaultRecords

/// The vault's database, opened for a server: one connection each for notifications, the API,
/// monitoring and workers, so that none waits for the others. With SQLite, all that may write share one
/// connection; monitoring only reads, which no lock of another program holds up.
struct OpenDatabase: Sendable {
    let store: ServerStore
    let vault: SharedVault
    let receiving: StoreAccess
    let api: StoreAccess
    let monitoring: StoreAccess
    let workers: StoreAccess
    /// For the daily validation: one thread sends, one changes the vault. Nil if it is off.
    let validation: StoreAccess?
    let heartbeat: Heartbeat
    private let server: ServerInstance

    /// The time limit of a call of the database.
    private static let timeout = StoreTimeout.eachStatement(.seconds(5))
    /// How long a call waits for the connection: less than the time limit, so that of calls that
    /// arrive at the same time the first one waits for a silent database, and no other.
    private static let maxWait = Duration.seconds(4)

    /// Opens the vault, and creates or updates the server's tables.
    ///
    /// - Parameters:
    ///   - server: this run of the process.
    ///   - isValidating: whether it validates stored tokens.
    /// - Throws: ``Diagnosis``.
    init(
        _ configuration: ServedConfiguration, _ server: ServerInstance, isValidating: Bool,
        in world: World
    ) throws(Diagnosis) {
        let file = try configuration.vaultFile()
        try Self.lock(file, in: world)
        let examined = try configuration.serverStore(Self.timeout)
        let keys = try Self.examined(examined, configuration, in: world).keys
        let fault = Self.otherVault(keys, configuration)
        func connected() throws(Diagnosis) -> ServerStore {
            try configuration.serverStore(Self.timeout).proving(fault)
        }
        let store = try connected()
        (self.store, self.server) = (store, server)
        let watch = DatabaseWatch(world.clocks.now, isFile: file != nil) {
            Self.freeSpace(file, world)
        }
        do {
            let vault = try Vault(store.vault, keys, by: world.actor)
            let shared = SharedVault(vault, keysFrom: configuration, watch)
            self.vault = shared
            try store.prepare(isAlone: file != nil)
            // The store of one user of the database.
            func own() throws -> ServerStore { file == nil ? try connected() : store }
            func access(_ store: ServerStore) throws -> StoreAccess {
                StoreAccess(store, on: try world.threads(1), maxWait: Self.maxWait, watch: watch)
            }
            receiving = try access(store)
            api = try access(try own())
            monitoring = try access(try connected())
            workers = StoreAccess(
                try own(), on: try world.threads(file == nil ? 2 : 1), watch: watch)
            validation =
                isValidating
                ? StoreAccess(try own(), on: try world.threads(2), watch: watch) : nil
            heartbeat = Heartbeat(
                file == nil ? monitoring : try access(store), shared, server, world.clocks, watch)
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Why a vault is another one than this process has opened: it has none of its keys.
    ///
    /// - Parameter keys: those at the start. All of them may have been replaced since.
    private static func otherVault(
        _ keys: VaultKeyRing, _ configuration: ServedConfiguration
    ) -> @Sendable ([VaultKeyCheck]) -> StoreError? {
        { checks in
            do throws(StoreError) {
                try Vault.requireKey(of: checks, keys)
                return nil
            } catch {
                let newer = try? configuration.quiet.vaultKeys()
                if let newer, (try? Vault.requireKey(of: checks, newer)) != nil { return nil }
                return StoreError(
                    .unusable, "the database is not the vault of this server: \(error)",
                    remedy:
                        "let vault.url lead to the vault that the server was started with; if this "
                        + "is the right one, restore its key file, and restart siwa-server")
            }
        }
    }

    /// Shows that the server is running, when nothing but its listeners can fail any more.
    ///
    /// - Throws: ``Diagnosis``.
    func announce() throws(Diagnosis) {
        do throws(StoreError) {
            try store.beat(server)
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Closes the connections, so that the file of a stopped server's SQLite vault has all records.
    func close() async {
        for access in [monitoring, validation, api, workers, receiving].compactMap(\.self) {
            try? await access.run { store throws(StoreError) in store.close() }
        }
    }

    /// Examines what ``init(_:_:in:)`` would open, and changes nothing.
    ///
    /// - Returns: what it would change, as parts of a sentence.
    /// - Throws: ``Diagnosis`` that it would throw.
    static func pendingChanges(
        _ configuration: ServedConfiguration, in world: World
    ) throws(Diagnosis) -> [String] {
        let store = try configuration.serverStore(timeout)
        let pending = try examined(store, configuration, in: world).pending
        guard pending.isEmpty else { return pending }
        let isAlone = try configuration.vaultFile() != nil
        do throws(StoreError) { try store.rehearse(isAlone: isAlone) } catch {
            throw Diagnosis(error)
        }
        return pending
    }

    /// What the servers of this machine that use the database have written; nil if one of them has not
    /// written it yet, or the database cannot be read.
    static func running(_ configuration: ServedConfiguration, in world: World) -> [ServerFacts]? {
        guard let survey = try? configuration.serverStore(timeout).survey() else { return nil }
        let own = survey.servers.filter { $0.server.host == world.actor.host }
        let facts = own.compactMap(\.facts)
        return facts.count == own.count ? facts : nil
    }

    /// What is wrong with the free space, although the server would start; nil if nothing is.
    static func spaceWarning(
        _ configuration: ServedConfiguration, in world: World
    ) throws(Diagnosis) -> String? {
        DatabaseWatch.warning(freeSpace(try configuration.vaultFile(), world)).map {
            "\($0): the server starts, but GET /readyz answers 503"
        }
    }

    private static func requireSpace(_ file: String?, _ world: World) throws(Diagnosis) {
        do throws(StoreError) {
            try DatabaseWatch.requireSpace(freeSpace(file, world))
        } catch {
            throw Diagnosis(error)
        }
    }

    /// The free bytes where an embedded vault is; nil if that is unknown.
    private static func freeSpace(_ file: String?, _ world: World) -> Int? {
        file.flatMap { world.files.freeSpace(world.files.resolvedPath($0)) }
    }

    private static func examined(
        _ store: ServerStore, _ configuration: ServedConfiguration, in world: World
    ) throws(Diagnosis) -> (pending: [String], keys: VaultKeyRing) {
        try requireSpace(try configuration.vaultFile(), world)
        do {
            let tables = try store.examine()
            let keys = try configuration.vaultKeys()
            _ = try Vault.encryptingKey(tables.keyChecks, keys)
            return (tables.pending, keys)
        } catch {
            throw Diagnosis(error)
        }
    }

    /// Locks the file of an embedded vault until the process ends: by itself and not by its name,
    /// because one file can have several names.
    private static func lock(_ file: String?, in world: World) throws(Diagnosis) {
        guard let file else { return }
        do {
            if try world.files.lockUntilExit(file) != nil { return }
        } catch {
            // The store says what to do about a missing file.
            guard !error.isMissing else { return }
            throw Diagnosis(
                .vault, "the vault cannot be locked: \(error)",
                hints: ["let this user read \(file)"], exitCode: .settings)
        }
        throw Diagnosis(
            .vault, "another siwa-server uses the vault \(file)",
            hints: [
                "stop the other process",
                "or move the vault to PostgreSQL, which several can share",
            ], exitCode: .settings)
    }
}

extension SharedVault {
    /// A vault whose keys are those of a configuration.
    fileprivate convenience init(
        _ vault: Vault, keysFrom configuration: ServedConfiguration, _ watch: DatabaseWatch
    ) {
        self.init(
            vault, readKeys: { try configuration.vaultKeys() },
            examineKeys: { try configuration.quiet.vaultKeys() }, watch: watch)
    }
}
