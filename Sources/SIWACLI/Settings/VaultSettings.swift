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
    private static func path(inVault url: String) -> String? {
        url.hasPrefix("sqlite:") ? String(url.dropFirst("sqlite:".count)) : nil
    }
}

extension Session {
    /// Opens the vault; its settings and keys are checked first.
    func vault() throws -> Vault {
        let store = try vaultStore()
        return try Vault(store, try vaultKeys(), by: world.actor)
    }

    /// The records alone.
    func vaultStore() throws -> any VaultStore { try world.vault(try settings.vaultURL().value) }

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
            guard file.isReadableByOthers else { return file.contents }
            let message = "the vault's keys \(path) can be read by others"
            guard !settings.isStrict.value else {
                throw SettingsError(.key, message, hints: ["chmod 600 \(path)"])
            }
            console.warn("\(message); chmod 600 \(path)")
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
