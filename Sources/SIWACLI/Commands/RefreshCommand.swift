internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa refresh`: validates a refresh token.
struct RefreshCommand: Command {
    static let name = "refresh"
    static let abstract = "Validate a refresh token and get a new access token."
    static let discussion = """
        Prints Apple's response with expires_at, the expiry of the access token. Apple does not \
        issue a new refresh token: keep the old one. Apple allows one refresh a day for each user.

        --user refreshes the user's newest active token in the vault, or the newest one if none is \
        active; with --all, every active token. The vault records the outcome: a refused token gets \
        the state dead. With --all the result is {"user_id","tokens":[...]}; each token has the \
        members of its response, or the member error. The exit code is then 75 if a request failed \
        temporarily, else 5 if a token was refused.
        """
    static let examples = [
        Example(
            "siwa refresh --token @env:APPLE_REFRESH_TOKEN", "Validate the token in a variable."),
        Example("siwa refresh --user 001234.5678.0910", "Validate a user's newest token."),
        Example(
            "siwa refresh --user 001234.5678.0910 --all",
            "Validate all of the user's active tokens."),
    ]
    static let parameters: [Parameter<Self>] =
        TokenOptions.parameters(at: \.source) + [
            .flag("all", \.isAll, help: "With --user: every active token of the user."),
            MetricsArgument.option(\.metrics),
            .flag(
                "dry-run", \.isDryRun, help: "Print the request with secrets masked; send nothing."),
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    var source = TokenOptions()
    var isAll = false
    var isDryRun = false
    var metrics: MetricsArgument?

    func run(in world: World) async throws {
        try world.metrics.begin(metrics, global, in: world)
        try checkCombination()
        let session = try Session(global, vault: source.vault, in: world)
        if let argument = source.token {
            let secret = try session.opaqueToken(argument, "--token")
            try await refresh(RefreshToken(secret), session)
        } else if let user = source.user {
            let refresh = StoredRefresh(
                tokens: try StoredTokens(of: user, session), requests: try Requests(session))
            guard !isDryRun else { return try await refresh.dryRun(isAll: isAll) }
            try await isAll ? refresh.refreshAll() : refresh.refreshNewest()
        }
    }

    private func refresh(_ token: RefreshToken, _ session: Session) async throws {
        let requests = try Requests(session)
        guard !isDryRun else { return try await requests.dryRun([.refresh(token)]) }
        let answer = try await requests.perform { tokens throws(TokenFailure) in
            try await tokens.refresh(token)
        }
        try session.report(
            Report(.object(answer.members(at: session.world.clocks.now())), of: .refresh))
    }

    private func checkCombination() throws(UsageError.Problem) {
        try source.check()
        guard (source.token == nil) != (source.user == nil) else {
            throw UsageError.Problem.misuse(
                "refresh needs --token or --user, and not both",
                hint: "--user takes the token from the vault")
        }
        guard !isAll || source.user != nil else {
            throw UsageError.Problem.misuse(
                "--all needs --user", hint: "add --user ID")
        }
    }
}
