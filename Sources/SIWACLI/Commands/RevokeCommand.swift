internal import CommandTable
internal import SIWACrypto
internal import SignInWithApple

/// `siwa revoke`: have Apple forget a token.
struct RevokeCommand: Command {
    static let name = "revoke"
    static let abstract = "Revoke a token, as account deletion requires."
    static let discussion = """
        Apple answers 200 to anything, so the result says what is known. --confirm refreshes \
        afterwards and expects a refusal: then the token is dead. That alone does not prove that \
        this call did it, because Apple refuses another client's token too; --check-first \
        refreshes before as well. A token that was dead already is not sent. invalid_grant proves \
        that a token is dead; invalid_request proves it only after a refresh that worked in the \
        same run.

        --user revokes every token that the vault has of the user, dead ones too. Tokens that \
        were revoked before are only asked about, with --confirm or --check-first. The vault notes \
        the intent before anything is sent, and the outcome afterwards: after a crash, repeat the \
        command. All tokens are tried; the result lists them in tokens. revoked means that no \
        token is left that may work, confirmed that a refused refresh proves it of each.

        --code exchanges and revokes in one step, for an account whose token was never stored.
        """
    static let examples = [
        Example(
            "siwa revoke --token @env:APPLE_REFRESH_TOKEN --check-first",
            "Revoke a refresh token and prove it."),
        Example(
            "siwa revoke --user 001234.5678.0910 --confirm",
            "Revoke all stored tokens of a user, with proof."),
        Example("siwa revoke --code -", "Revoke an account from a fresh sign-in."),
    ]
    static let parameters: [Parameter<Self>] =
        TokenOptions.parameters(at: \.source) + [
            .option(
                "code", \.code, value: "CODE",
                help: "An authorization code to exchange first, in place of --token."),
            .option("kind", \.kind, value: "KIND", help: "What kind of token it is."),
            .flag("confirm", \.isConfirmed, help: "Prove by a refresh that the token is dead."),
            .flag(
                "check-first", \.isCheckedFirst,
                help: "Prove that it was alive before, too; means --confirm."),
            .option(
                "redirect-uri", \.redirectURI, value: "URI",
                help: "With --code: as in the sign-in, for a code that came through the web."),
            .option(
                "code-verifier", \.codeVerifier, value: "VERIFIER",
                help: "With --code: for a sign-in that carried a code_challenge (PKCE)."),
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
        if !isDryRun { try global.checkPrinted(among: memberNames) }
        let session = try Session(
            TypedSettings(global: global, redirectURI: redirectURI, vault: source.vault), in: world)
        let verifier = try codeVerifier.map {
            CodeVerifier(try session.secret($0, "--code-verifier"))
        }
        let revoked = try revocationSource(session)
        let order = RevocationOrder(
            kind: kind, proof: proof, requests: try Requests(session, codeVerifier: verifier))
        switch revoked {
        case .code(let code):
            if isDryRun { try order.rehearse(code) } else { try await order.revoke(code) }
        case .token(let token):
            guard !isDryRun else { return try order.requests.rehearse(order.sequence(token)) }
            try await order.revoke(token)
        case .stored(let tokens):
            let revocation = StoredRevocation(order: order, tokens: tokens)
            if isDryRun { try revocation.rehearse() } else { try await revocation.carryOut() }
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

/// What `siwa revoke` revokes.
private enum RevocationSource {
    case token(SecretText)
    case stored(StoredTokens)
    case code(AuthorizationCode)
}

// What was asked for.
extension RevokeCommand {
    /// Reads the secrets, or the vault.
    private func revocationSource(_ session: Session) throws -> RevocationSource {
        if let token = source.token {
            return .token(try session.opaqueToken(token, "--token"))
        }
        if let user = source.user { return .stored(try StoredTokens(of: user, session)) }
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
                "--user means a refresh token: the vault has no other",
                hint: "leave --kind access_token out")
        }
        guard proof == .none || kind == .refreshToken else {
            throw UsageError.Problem.misuse(
                "--confirm and --check-first need a refresh token: others cannot be refreshed",
                hint: "leave --kind access_token out, or revoke without proof")
        }
        guard code != nil || redirectURI == nil && codeVerifier == nil else {
            throw UsageError.Problem.misuse(
                "--redirect-uri and --code-verifier go with --code",
                hint: "leave them out")
        }
    }
}
