internal import SIWACrypto
package import SIWALifecycle
package import SIWAServerRecords
internal import SIWASystem
package import SIWAVaultRecords

/// The scope of `--timeout` for calls of the vault.
package enum VaultTimeLimit: Sendable {
    /// The whole command.
    case command
    /// Each statement, of commands over many records.
    case statement
}

extension Session {
    /// Opens the vault, after checking its settings and keys.
    package func vault(_ limit: VaultTimeLimit = .command) throws -> Vault {
        let store = try vaultStore(limit)
        let keys = try vaultKeys()
        do throws(StoreError) {
            return try Vault(store, keys, by: world.actor)
        } catch {
            guard error.kind == .key else { throw error }
        }
        // Another process may have added a newer key since the keys were read.
        return try Vault(store, try vaultKeys(), by: world.actor)
    }

    /// Opens the vault for a request whose result is stored; fails if it is moving.
    package func changeableVault() throws -> Vault {
        let vault = try vault()
        try vault.store.requireChangeable()
        return vault
    }

    /// The store, without keys.
    package func vaultStore(_ limit: VaultTimeLimit = .command) throws -> any VaultStore {
        try vaultStore(at: try settings.vaultURL(), limit)
    }

    /// The store at a URL, without keys.
    package func vaultStore(
        at url: Setting<String>, _ limit: VaultTimeLimit
    ) throws -> any VaultStore {
        try examineVaultFiles(url.value)
        let store = try world.vault(url.value, try vaultTimeout(limit))
        try examineProtection(of: store, at: url)
        return store
    }

    /// The tables of siwa-server in the vault's database.
    package func serverStore(_ limit: VaultTimeLimit = .command) throws -> ServerStore {
        try serverStore(try vaultTimeout(limit))
    }

    /// The tables of siwa-server, with another timeout.
    package func serverStore(_ timeout: StoreTimeout) throws -> ServerStore {
        let url = try settings.vaultURL()
        try examineVaultFiles(url.value)
        let store = try world.serverStore(url.value, timeout)
        try examineProtection(of: store.vault, at: url)
        return store
    }

    /// What to do first about a file of the vault that is gone while the service runs, which may have it
    /// open; nil if that cannot be.
    ///
    /// - Parameter age: how long the service has run.
    package func adviceToSave(whileRunningFor age: Duration = .zero) -> String? {
        guard world.words.isService, let url = try? settings.vaultURL().value,
            let path = Settings.path(inVault: url), !world.files.exists(path),
            world.isRunning("siwa-server", "serve", age)
        else { return nil }
        return """
            siwa-server runs, and may still have the vault open: do not stop it before the file is saved, \
            as runbooks/backup-and-restore says ('The file was deleted while the server runs')
            """
    }

    private func examineProtection(
        of store: any VaultStore, at url: Setting<String>
    ) throws {
        for weakness in try store.weaknesses() {
            let place = weakness.place ?? "\(url.origin)"
            guard !settings.isStrict.value else {
                // Not a usage error, even if a flag set it, because `--strict` applies to settings.
                throw SettingsError(
                    "the connection to the vault is not protected: \(weakness.reason)",
                    hints: [
                        "fix it where it is set: \(place)",
                        "use sslmode=verify-full, siwa's default",
                    ])
            }
            console.warn(
                "the connection to the vault: \(weakness.reason) (set by \(place)); "
                    + "use sslmode=verify-full")
        }
    }

    /// The time limit for calls of the vault; a signal shortens it.
    package func vaultTimeout(_ limit: VaultTimeLimit) throws(SettingsError) -> StoreTimeout {
        let timeout = try settings.timeout()
        let (timekeeper, start, ending) = (world.clocks.timekeeper, startOfCommand, world.ending)
        return StoreTimeout {
            let left =
                switch limit {
                case .statement: timeout
                case .command: max(timeout - (timekeeper.elapsed() - start), ending.reserved)
                }
            return ending.remaining.map { min($0, left) } ?? left
        }
    }

    /// Checks the owners and permissions of an embedded vault's files: the database, and SQLite's
    /// files beside it.
    private func examineVaultFiles(_ url: String) throws(SettingsError) {
        guard let path = Settings.path(inVault: url) else { return }
        for file in ["", "-wal", "-shm", "-journal"].map({ path + $0 }) {
            try examine(
                FileWarning(
                    "the vault", file, world.files.status(file), isSecret: false, in: world),
                .configuration)
        }
    }

    /// Reads the keys of the vault.
    package func vaultKeys() throws -> VaultKeyRing {
        try requireOpenSSL()
        let source = try settings.vaultKeySource(world.variables)
        do {
            return try VaultKeyRing(try text(of: source))
        } catch let error as StoreError {
            throw SettingsError(
                .key, error.message,
                hints: ["fix the keys in \(source.value.description)"])
        }
    }

    private func text(of source: Setting<VaultKeySource>) throws(SettingsError) -> SecretBytes {
        switch source.value {
        case .variable(let name): return SecretBytes((world.variables(name) ?? "").utf8)
        case .file(let path):
            let file = try keyFile(path, source.origin)
            try examine(
                FileWarning(
                    "the file of the vault's keys", path, file.status, isSecret: true, in: world),
                .key)
            return file.contents
        }
    }

    /// What to do if the key file does not exist.
    static func missingKeys(_ path: String, _ origin: Origin) -> [String] {
        [
            "if there is a vault, restore \(path) from its backup: "
                + "without it, no token in the vault can be read",
            origin == .standard
                ? "if the keys are in another file, set it with \(SettingName.vaultKeyFile.places)"
                : "fix the path where it is set: \(origin)",
            adviceToCreate,
        ]
    }

    static let adviceToCreate = "for a new vault, 'siwa vault init' creates it"

    private func keyFile(_ path: String, _ origin: Origin) throws(SettingsError) -> LocalFile {
        do {
            return try world.files.read(path)
        } catch {
            throw SettingsError(
                .key, "the vault's keys cannot be read: \(error)",
                hints: error.isMissing
                    ? Self.missingKeys(path, origin)
                    : error.advice(or: "fix the path where it is set: \(origin)"))
        }
    }
}
