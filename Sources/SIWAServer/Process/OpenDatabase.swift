internal import Lifecycle
internal import LocalFiles
internal import SIWACLI
internal import ServerRecords

/// The vault's database, opened for a server: one connection each for notifications, the API,
/// monitoring and workers, so that none waits for the others. With SQLite, all share one connection.
struct OpenDatabase: Sendable {
    let vault: SharedVault
    let receiving: StoreAccess
    let api: StoreAccess
    let monitoring: StoreAccess
    let workers: StoreAccess
    /// Prevents other processes from serving the same file; held until the process ends.
    private let lock: FileLock?

    /// The time limit of a call of the database.
    private static let timeout = VaultTimeout.eachStatement(.seconds(5))
    /// How long a call waits for the connection: less than the time limit, so that of calls that
    /// arrive at the same time the first one waits for a silent database, and no other.
    private static let maxWait = Duration.seconds(4)

    /// Opens the vault, and creates or updates the server's tables.
    ///
    /// - Throws: ``Diagnosis``.
    init(_ configuration: ServedConfiguration, in world: World) throws(Diagnosis) {
        let file = try configuration.vaultFile()
        lock = try file.map { file throws(Diagnosis) in try Self.lock(file, in: world) }
        let store = try configuration.serverStore(Self.timeout)
        do {
            let vault = try Vault(
                store.vault, try configuration.vaultKeys(), by: world.actor)
            self.vault = SharedVault(vault) { try configuration.vaultKeys() }
            try store.prepare(isAlone: file != nil)
            // The store of one user of the database.
            func own() throws -> any ServerStore {
                file == nil ? try configuration.serverStore(Self.timeout) : store
            }
            func access(_ store: any ServerStore) throws -> StoreAccess {
                StoreAccess(store, on: try world.threads(1), maxWait: Self.maxWait)
            }
            receiving = try access(store)
            api = try access(try own())
            monitoring = try access(try own())
            workers = StoreAccess(try own(), on: try world.threads(file == nil ? 2 : 1))
        } catch {
            throw Diagnosis(error)
        }
    }

    private static func lock(_ file: String, in world: World) throws(Diagnosis) -> FileLock {
        // Links to one file are one vault.
        let path = world.files.resolvedPath(file) + ".server.lock"
        do {
            if let lock = try world.files.tryLock(path) { return lock }
        } catch {
            throw Diagnosis(
                "vault", "the vault cannot be locked: \(error)",
                hints: ["let this user write to the folder of \(file)"], exitCode: .settings)
        }
        throw Diagnosis(
            "vault", "another siwa-server uses the vault \(file)",
            hints: [
                "stop the other process",
                "or move the vault to PostgreSQL, which several can share",
            ], exitCode: .settings)
    }
}
