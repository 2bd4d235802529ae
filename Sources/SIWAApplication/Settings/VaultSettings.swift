internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// The place of the vault's keys.
package enum VaultKeySource: Hashable, Sendable {
    case file(String)
    case variable(String)

    package var description: String {
        switch self {
        case .file(let path): path
        case .variable(let name): "the variable \(name)"
        }
    }
}

extension Settings {
    package static let vaultURLPrefixes = ["sqlite:", "postgresql:", "postgres:"]
    package static let vaultURLExpectation = "sqlite:PATH or postgresql://…"

    /// The URL of the vault; a path in the configuration is relative to it.
    package func vaultURL() throws(SettingsError) -> Setting<String> {
        guard let setting = text(.vaultURL) else { throw missing(.vaultURL) }
        guard Self.vaultURLPrefixes.contains(where: setting.value.hasPrefix) else {
            throw SettingsError(
                "vault.url must be \(Self.vaultURLExpectation)", from: setting.origin)
        }
        guard let path = Self.path(inVault: setting.value) else { return setting }
        guard !path.isEmpty else {
            throw SettingsError("vault.url has no path after 'sqlite:'", from: setting.origin)
        }
        return Setting(
            value: "sqlite:" + resolve(path, from: setting.origin), origin: setting.origin)
    }

    /// The place of the keys in use, without reading them. For an embedded vault, they are next to
    /// the database unless set.
    package func vaultKeySource(
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

    /// Nil for a vault that is not a file.
    package static func path(inVault url: String) -> String? {
        url.hasPrefix("sqlite:") ? String(url.dropFirst("sqlite:".count)) : nil
    }
}
