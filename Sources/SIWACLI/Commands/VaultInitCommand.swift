internal import CommandTable
internal import JOSE
internal import Lifecycle

/// `siwa vault init`: creates a vault.
struct VaultInitCommand: Command {
    static let name = "vault init"
    static let abstract = "Create a vault for refresh tokens: its database and its key."
    static let discussion = """
        The vault stores refresh tokens by client and user, encrypted with a key that is not in the \
        database. --vault, SIWA_VAULT_URL or "vault" in the configuration says where it is: \
        sqlite:PATH is a file, postgresql://… a database that many machines share.

        The key file is created if it is missing: next to a SQLite vault, with the extension .key; \
        else vault.key_file or SIWA_VAULT_KEY_FILE gives its path. With keys in SIWA_VAULT_KEY no \
        file is created. An existing vault is not changed (exit 3).

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
        try global.checkPrinted(among: ["url", "key_file", "key_number"])
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let url = try session.settings.vaultURL().value
        let store = try session.vaultStore()
        let keyFile = try VaultKeyFile(session)
        try checkThereIsNone(store)
        // The key first: without it the database would be useless.
        let keys = try keyFile.makeIfMissing()
        try Vault.create(store, keys)
        session.console.note(
            "back up \(keyFile.source.value.description), apart from the database: "
                + "without it no token can be read")
        try session.report(
            Report([
                "url": .string(withoutPassword(url)),
                "key_file": keyFile.path.map { .string($0) } ?? .null,
                "key_number": .integer(try Vault(store, keys, by: world.actor).currentKey),
            ]))
    }

    /// Fails before a key file is created if the database is unusable or has a vault already.
    private func checkThereIsNone(_ store: any VaultStore) throws(VaultError) {
        do {
            _ = try store.keyChecks()
        } catch {
            guard error.kind == .notInitialized else { throw error }
            return
        }
        throw VaultError(.alreadyInitialized, "there is a vault already")
    }
}
