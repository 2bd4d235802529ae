internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// Where the keys of the vault are.
enum VaultKeySource: Hashable, Sendable {
    case file(String)
    case variable(String)

    var description: String {
        switch self {
        case .file(let path): path
        case .variable(let name): "the variable \(name)"
        }
    }
}

extension Settings {
    /// The URL of the vault; a path that stands in the configuration is relative to it.
    func vaultURL() throws(SettingsError) -> Setting<String> {
        guard let setting = text(.vaultURL) else { throw missing(.vaultURL) }
        guard VaultArgument.valuePrefixes.contains(where: setting.value.hasPrefix) else {
            throw SettingsError(
                "vault.url must be \(VaultArgument.expectation)", from: setting.origin)
        }
        guard let path = Self.path(inVault: setting.value) else { return setting }
        guard !path.isEmpty else {
            throw SettingsError("vault.url has no path behind 'sqlite:'", from: setting.origin)
        }
        return Setting(
            value: "sqlite:" + resolve(path, from: setting.origin), origin: setting.origin)
    }

    /// Which keys are in use, without reading them. Beside an embedded vault they need no setting.
    func vaultKeySource(
        _ variables: (String) -> String?
    ) throws(SettingsError) -> Setting<VaultKeySource> {
        let isText = nonEmpty(variables("SIWA_VAULT_KEY")) != nil
        let file = path(.vaultKeyFile)
        if isText, case .variable? = file?.origin {
            throw SettingsError(
                .key, "both SIWA_VAULT_KEY_FILE and SIWA_VAULT_KEY are set",
                hints: ["unset one of them: they could be different keys"])
        }
        if isText {
            return Setting(
                value: .variable("SIWA_VAULT_KEY"), origin: .variable("SIWA_VAULT_KEY"))
        }
        if let file { return Setting(value: .file(file.value), origin: file.origin) }
        guard let path = Self.path(inVault: try vaultURL().value) else {
            throw missing(.vaultKeyFile, or: "or put the keys themselves into SIWA_VAULT_KEY")
        }
        let stem = path.hasSuffix(".db") ? String(path.dropLast(3)) : path
        return Setting(value: .file(stem + ".key"), origin: .standard)
    }

    /// Nil for a vault that is no file.
    static func path(inVault url: String) -> String? {
        url.hasPrefix("sqlite:") ? String(url.dropFirst("sqlite:".count)) : nil
    }
}

/// What `--timeout` limits when the vault keeps a command waiting.
enum VaultTimeLimit: Sendable {
    /// The whole command.
    case command
    /// Each statement, of commands over many records.
    case statement
}

extension Session {
    /// Opens the vault; its settings and keys are checked first.
    func vault(_ limit: VaultTimeLimit = .command) throws -> Vault {
        let store = try vaultStore(limit)
        return try Vault(store, try vaultKeys(), by: world.actor)
    }

    /// The records alone.
    func vaultStore(_ limit: VaultTimeLimit = .command) throws -> any VaultStore {
        let url = try settings.vaultURL()
        try examineVaultFiles(url.value)
        let store = try world.vault(url.value, try patience(limit))
        for weakness in try store.weaknesses() {
            guard !settings.isStrict.value else {
                throw SettingsError(
                    "the connection to the vault is not protected: \(weakness)", from: url.origin,
                    hints: ["use sslmode=verify-full, siwa's default"])
            }
            console.warn("the connection to the vault: \(weakness); use sslmode=verify-full")
        }
        return store
    }

    /// How long the vault may keep this command waiting; a signal shortens it.
    private func patience(_ limit: VaultTimeLimit) throws(SettingsError) -> VaultPatience {
        let timeout = try settings.timeout()
        let (timekeeper, start, ending) = (world.clocks.timekeeper, startOfCommand, world.ending)
        return VaultPatience {
            switch limit {
            case .statement:
                // A batch that a signal ends still has to note what it did.
                return ending.signal == nil ? timeout : min(timeout, Self.statementAfterSignal)
            case .command:
                let left = max(timeout - (timekeeper.elapsed() - start), .zero)
                return ending.remaining.map { min($0, left) } ?? left
            }
        }
    }

    /// How long a statement that begins after a signal may take.
    private static let statementAfterSignal = Duration.seconds(5)

    /// Looks at whose the files of an embedded vault are: the database, and what SQLite keeps
    /// beside it.
    private func examineVaultFiles(_ url: String) throws(SettingsError) {
        guard let path = Settings.path(inVault: url) else { return }
        for file in ["", "-wal", "-shm", "-journal"].map({ path + $0 }) {
            try examine(
                FileWarning(
                    "the vault", file, world.files.status(file), isSecret: false,
                    world.variables), .configuration)
        }
    }

    /// Says what speaks against a file, and refuses it under `--strict`.
    func examine(
        _ warning: FileWarning?, _ subject: SettingsError.Subject
    ) throws(SettingsError) {
        guard let warning else { return }
        guard !settings.isStrict.value else { throw warning.refused(subject) }
        console.warn(warning.text)
    }

    /// Reads the keys of the vault.
    func vaultKeys() throws -> VaultKeyRing {
        try requireOpenSSL()
        let source = try settings.vaultKeySource(world.variables)
        do {
            return try VaultKeyRing(try text(of: source))
        } catch let error as VaultError {
            throw SettingsError(
                .key, error.message,
                hints: ["look at \(source.value.description), where \(source.origin) points"])
        }
    }

    private func text(of source: Setting<VaultKeySource>) throws(SettingsError) -> SecretBytes {
        switch source.value {
        case .variable(let name): return SecretBytes((world.variables(name) ?? "").utf8)
        case .file(let path):
            let file = try keyFile(path, source.origin)
            try examine(
                FileWarning(
                    "the vault's keys", path, file.status, isSecret: true, world.variables), .key)
            return file.contents
        }
    }

    private func keyFile(_ path: String, _ origin: Origin) throws(SettingsError) -> LocalFile {
        do {
            return try world.files.read(path)
        } catch {
            throw SettingsError(
                .key, "the vault's keys cannot be read: \(error)",
                hints: (error.isMissing ? ["'siwa vault init' makes them with the vault"] : [])
                    + [
                        origin == .standard
                            ? "if it is another file, name it with \(SettingName.vaultKeyFile.places)"
                            : "mend the path where it was set: \(origin)"
                    ])
        }
    }
}
