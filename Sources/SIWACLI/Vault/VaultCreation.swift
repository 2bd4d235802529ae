internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// A vault that was created, or one that existed already.
struct VaultCreation: Sendable {
    /// The URL without a password.
    let url: String
    /// Nil if the keys are in a variable.
    let keyFile: String?
    /// The number of the key that encrypts; nil if the vault was not opened.
    let keyNumber: Int?

    /// Creates the vault of the settings, and its keys if they are missing.
    ///
    /// - Throws: ``StoreError`` of the kind `alreadyInitialized` if there is a vault.
    init(_ session: Session) throws {
        let url = try session.settings.vaultURL().value
        let store = try session.vaultStore()
        let keyFile = try VaultKeyFile(session)
        try Self.requireNoVault(in: store, keyFile, session.world)
        let oldKeys = keyFile.path.flatMap { session.world.files.exists($0) ? $0 : nil }
        // Creates the key first: without it the database would be useless.
        let keys = try keyFile.makeIfMissing()
        try Vault.create(store, keys)
        if let oldKeys {
            session.console.note(
                "this vault is new and empty, and \(oldKeys) had keys already: if they are those of "
                    + "another vault, set vault.url to its place")
        }
        session.console.note(
            "back up \(keyFile.source.value.description), apart from the database: "
                + "without it no token can be read")
        self.url = withoutPassword(url)
        self.keyFile = keyFile.path
        keyNumber = try Vault(store, keys, by: session.world.actor).currentKey
    }

    /// Describes the vault of the settings, which exists already.
    init(existing session: Session) throws {
        url = withoutPassword(try session.settings.vaultURL().value)
        keyFile = try VaultKeyFile(session).path
        keyNumber = nil
    }

    /// Fails before a key file is created if the database is unusable or has a vault already.
    private static func requireNoVault(
        in store: any VaultStore, _ keyFile: VaultKeyFile, _ world: World
    ) throws(StoreError) {
        do {
            _ = try store.keyChecks()
        } catch {
            guard error.kind == .notInitialized else { throw error }
            return
        }
        guard let path = keyFile.path, !world.files.exists(path) else {
            throw StoreError(.alreadyInitialized, "there is a vault already")
        }
        throw StoreError(
            .alreadyInitialized, "there is a vault already, and its key file \(path) is missing",
            remedy: "restore \(path) from its backup: without it, no token in the vault can be read"
        )
    }
}
