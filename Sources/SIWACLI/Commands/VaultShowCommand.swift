internal import CommandTable
internal import SignInWithApple

/// `siwa vault show`: one record.
struct VaultShowCommand: Command {
    static let name = "vault show"
    static let abstract = "Show what the vault has of one user."
    static let discussion = """
        USER is the 'sub' of an identity token, which siwa calls user_id; the client is the one \
        of the settings. The token is opened, and shows as its fingerprint: the first 12 \
        hexadecimal digits of its SHA-256. With --reveal it shows itself. Without a record the \
        exit code is 1.
        """
    static let examples = [
        Example(
            "siwa vault show 001234.0a1b2c.0001 --print state", "Print the state of one token."),
        Example(
            "siwa vault show 001234.0a1b2c.0001 --reveal --print refresh_token",
            "Print a token, for another program."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("USER", \.$user, help: "The user."),
            .flag("reveal", \.isRevealing, help: "Show the token itself."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var user: String
    var isRevealing = false
    var vault: VaultArgument?

    func run(in world: World) async throws {
        let session = try Session(TypedSettings(global: global, vault: vault), in: world)
        let user = try session.vaultUser(user)
        let vault = try session.vault()
        guard let record = try vault.store.newestRecord(of: user) else {
            throw try NegativeAnswer.noRecord(of: user, in: vault.store)
        }
        let token = try vault.token(of: record).text
        let secret = isRevealing ? [JSON.Member("refresh_token", .string(token.revealed()))] : []
        try session.report(
            Report(
                .object(
                    record.openMembers(.string(token.fingerprint)) + secret)))
    }
}
