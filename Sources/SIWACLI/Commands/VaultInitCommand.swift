internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa vault init`: creates a vault.
struct VaultInitCommand: Command {
    static let name = "vault init"
    static let abstract = "Create a vault for refresh tokens: its database and its key."
    static let discussion = """
        The vault stores refresh tokens by client and user, encrypted with a key that is not in \
        the database. --vault, SIWA_VAULT_URL or "vault" in the configuration says where it is: \
        sqlite:PATH is a file, postgresql://… a database that many machines share.

        The key file is created if it is missing: next to an SQLite vault, with the extension \
        .key; else vault.key_file or SIWA_VAULT_KEY_FILE gives its path. With keys in \
        SIWA_VAULT_KEY no file is created. An existing vault is not changed (exit 3): if its key \
        file is missing, restore that from its backup.

        The tokens cannot be read without the key: keep a backup of it, apart from the database.
        """
    static let examples = [
        Example("siwa vault init", "Create the vault of the settings."),
        Example("siwa vault init --vault sqlite:/var/lib/siwa/vault.db", "Create one elsewhere."),
    ]
    static let parameters: [Parameter<Self>] =
        [VaultArgument.option(\.vault)] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["url", "key_file", "key_number"])
        let session = try Session(global, vault: vault, in: world)
        if vault == nil { try requireNoOpenVault(session) }
        let vault = try VaultCreation(session)
        try session.report(
            Report([
                "url": .string(vault.url),
                "key_file": vault.keyFile.map { .string($0) } ?? .null,
                "key_number": vault.keyNumber.map { .integer($0) } ?? .null,
            ]))
    }

    /// Fails while the service runs, which may have a deleted vault open: a new one would take the place
    /// where it is to be saved. One that cannot start for want of a vault ends within seconds.
    private func requireNoOpenVault(_ session: Session) throws(Diagnosis) {
        guard let save = session.adviceToSave(whileRunningFor: .seconds(5)) else { return }
        throw Diagnosis(
            .vault, "a vault is not created while siwa-server runs with the one of the settings",
            hints: [
                save, "if it runs with another vault, stop it first: systemctl stop siwa-server",
            ],
            exitCode: .settings)
    }
}
