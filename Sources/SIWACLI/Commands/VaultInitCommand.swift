internal import CommandTable
internal import SignInWithApple

/// `siwa vault init`: make a vault.
struct VaultInitCommand: Command {
    static let name = "vault init"
    static let abstract = "Make a vault for refresh tokens: its database and its key."
    static let discussion = """
        The vault keeps a refresh token for each client and user, sealed with a key that the \
        database never sees. It is the one of --vault, SIWA_VAULT_URL or "vault" in the \
        configuration: sqlite:PATH is a file, postgresql://… is shared by many machines.

        The key file is made unless it is there: beside an embedded vault its name ends in .key, \
        otherwise vault.key_file or SIWA_VAULT_KEY_FILE names it. With keys in SIWA_VAULT_KEY no \
        file is made. A vault that is there already is left alone (exit 3).

        Whoever has the database alone can read no token; whoever loses the key can read none \
        either. Back the key up, apart from the database.
        """
    static let examples = [
        Example("siwa vault init", "Make the vault of the settings."),
        Example("siwa vault init --vault sqlite:/var/lib/siwa/vault.db", "Make one elsewhere."),
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
        // First the key: a database whose key was lost on the way would be worth nothing.
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

    /// A database that cannot be had, or is there already, must leave no key file behind.
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
