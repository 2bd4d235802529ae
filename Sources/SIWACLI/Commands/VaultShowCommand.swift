internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// `siwa vault show`: a user's tokens.
struct VaultShowCommand: Command {
    static let name = "vault show"
    static let abstract = "Show the tokens that the vault has of one user."
    static let discussion = """
        USER is the sub of an identity token, which siwa calls user_id; the client is the one of \
        the settings. Every token is decrypted and shown as its fingerprint, the first 12 \
        hexadecimal digits of its SHA-256; with --reveal, the token itself is shown. If the user \
        has no token, the exit code is 1. other_clients lists other clients that have tokens of \
        the user.
        """
    static let examples = [
        Example("siwa vault show 001234.0a1b2c.0001", "Show a user's tokens, and their states."),
        Example(
            "siwa vault show 001234.0a1b2c.0001 --reveal | jq -r '.tokens[].refresh_token'",
            "Print the tokens, for another program."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .operand("USER", \.$user, help: "The user."),
            .flag("reveal", \.isRevealing, help: "Show the tokens themselves."),
            VaultArgument.option(\.vault),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var user: String
    var isRevealing = false
    var vault: VaultArgument?

    func run(in world: World) async throws {
        try global.output.checkPrinted(among: ["client_id", "user_id", "tokens", "other_clients"])
        let session = try Session(global, vault: vault, in: world)
        let stored = try StoredTokens(of: user, session)
        var broken = BrokenRecords()
        for row in stored.damaged { try broken.add(row.error) }
        var tokens: [JSON] = []
        for record in stored.records {
            guard let token = try broken.token(of: record, in: stored.vault)?.text else { continue }
            let secret: [JSON.Member] =
                isRevealing ? [.init("refresh_token", .string(token.revealed()))] : []
            tokens.append(.object(record.tokenMembers + secret))
        }
        guard !tokens.isEmpty else { return try broken.check("no token can be shown") }
        try session.report(
            Report(
                .object(
                    stored.user.members + [.init("tokens", .array(tokens))]
                        + stored.otherClientsMember)))
        try broken.check("the other tokens are shown")
    }
}
