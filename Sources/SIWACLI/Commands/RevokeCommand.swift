internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle

/// `siwa revoke`: revokes a token.
struct RevokeCommand: Command {
    static let name = "revoke"
    static let abstract = "Revoke a token, as account deletion requires."
    static let discussion = """
        Apple answers every revocation with 200, so the result says what is known. --confirm \
        refreshes the token afterwards: if Apple refuses, the token no longer works. That does not \
        prove that the revocation is the reason, because Apple also refuses another client's token; \
        --check-first refreshes before the revocation too. A token that Apple refuses at that point \
        is not revoked again. invalid_grant proves that a token no longer works; invalid_request \
        proves it only if a refresh worked earlier in the same run.

        A text that cannot be a token, such as null or a line of a CSV file, is refused. One \
        without the shape of Apple's tokens is sent with a warning and "unusual":true; of it, only \
        --check-first proves anything.

        --user revokes every token of the user in the vault, including those in state dead. Tokens \
        that were revoked before are only refreshed, with --confirm or --check-first. The vault \
        records the intent before the request, and the outcome afterwards: after a crash, repeat \
        the command. All tokens are tried and listed in tokens. revoked means that no token is \
        left that may work, confirmed that a refused refresh proves it for each.

        --code exchanges a code and revokes its token, for an account whose token was never stored.
        """
    static let examples = [
        Example(
            "siwa revoke --token @env:APPLE_REFRESH_TOKEN --check-first",
            "Revoke a refresh token and prove it."),
        Example(
            "siwa revoke --user 001234.5678.0910 --confirm",
            "Revoke all stored tokens of a user, with proof."),
        Example("siwa revoke --code -", "Revoke an account after a new sign-in."),
    ]
    static let parameters: [Parameter<Self>] =
        TokenOptions.parameters(at: \.source) + [
            .option(
                "code", \.code, value: "CODE",
                help: "An authorization code to exchange first; replaces --token."),
            .option("kind", \.kind, value: "KIND", help: "The kind of the token."),
            .flag(
                "confirm", \.isConfirmed,
                help: "Refresh afterwards, to prove that the token no longer works."),
            .flag(
                "check-first", \.isCheckedFirst,
                help: "Refresh before too, to prove that the token worked; implies --confirm."),
            .option(
                "redirect-uri", \.redirectURI, value: "URI",
                help: "With --code: the redirect URI of the sign-in, for a code from the web."),
            .option(
                "code-verifier", \.codeVerifier, value: "VERIFIER",
                help: "With --code: the verifier of the sign-in's code_challenge (PKCE)."),
            .flag(
                "dry-run", \.isDryRun, help: "Print the requests with secrets masked; send nothing."
            ),
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    var source = TokenOptions()
    var code: SecretArgument?
    var kind = TokenKind.refreshToken
    var isConfirmed = false
    var isCheckedFirst = false
    var redirectURI: String?
    var codeVerifier: SecretArgument?
    var isDryRun = false

    func run(in world: World) async throws {
        try checkCombination()
        if !isDryRun { try global.output.checkPrinted(among: memberNames) }
        let session = try Session(global, redirectURI: redirectURI, vault: source.vault, in: world)
        let verifier = try codeVerifier.map { try session.codeVerifier($0) }
        let revoked = try revocationSource(session)
        let order = RevocationOrder(
            kind: kind, proof: proof, requests: try Requests(session, codeVerifier: verifier))
        switch revoked {
        case .code(let code):
            if isDryRun { try await order.dryRun(code) } else { try await order.revoke(code) }
        case .token(let token, let look):
            order.warn(of: look)
            guard !isDryRun else { return try await order.requests.dryRun(order.sequence(token)) }
            try await order.revoke(token, look)
        case .stored(let tokens):
            let revocation = StoredRevocation(order: order, tokens: tokens)
            if isDryRun { try await revocation.dryRun() } else { try await revocation.carryOut() }
        }
    }

    private var memberNames: [String] {
        source.user == nil
            ? RevocationReport.memberNames(proof) : StoredRevocationReport.memberNames(proof)
    }

    private var proof: Revocation.Proof {
        isCheckedFirst ? .beforeAndAfterwards : isConfirmed ? .afterwards : .none
    }
}

/// Where the token to revoke comes from.
private enum RevocationSource {
    case token(SecretText, TokenLook)
    case stored(StoredTokens)
    case code(AuthorizationCode)
}

// The requested revocation.
extension RevokeCommand {
    /// Reads the secrets, or the vault.
    private func revocationSource(_ session: Session) throws -> RevocationSource {
        if let token = source.token {
            let (text, look) = try session.revocableToken(token, "--token", as: kind)
            return .token(text, look)
        }
        if let user = source.user {
            try session.requireAllTokensStored(of: try session.vaultUser(user))
            return .stored(try StoredTokens(of: user, session))
        }
        guard let code else { throw UsageError.Problem.missingParameters(["--token TOKEN"]) }
        return .code(AuthorizationCode(try session.opaqueToken(code, "--code")))
    }

    private func checkCombination() throws(UsageError.Problem) {
        try source.check()
        let sources = [source.token != nil, source.user != nil, code != nil]
        guard sources.count(where: \.self) == 1 else {
            throw UsageError.Problem.misuse(
                "revoke needs --token, --user or --code, and only one of them",
                hint: "give the stored refresh token with --token, or its user with --user")
        }
        guard source.user == nil || kind == .refreshToken else {
            throw UsageError.Problem.misuse(
                "--user needs a refresh token: the vault stores no other kind",
                hint: "omit --kind access_token")
        }
        guard proof == .none || kind == .refreshToken else {
            throw UsageError.Problem.misuse(
                "--confirm and --check-first need a refresh token: other tokens cannot be refreshed",
                hint: "omit --kind access_token, --confirm and --check-first")
        }
        guard code != nil || redirectURI == nil && codeVerifier == nil else {
            throw UsageError.Problem.misuse(
                "--redirect-uri and --code-verifier need --code",
                hint: "omit them")
        }
    }
}
