internal import CommandTable
internal import SignInWithApple

/// `siwa refresh`: validate a refresh token.
struct RefreshCommand: Command {
    static let name = "refresh"
    static let abstract = "Validate a refresh token and get a new access token."
    static let discussion = """
        Prints Apple's answer, with expires_at for the access token. Apple does not issue a new \
        refresh token: keep the old one. Apple wants this at most once a day for each user.

        --user takes the token out of the vault, which notes what Apple said: a refused token is \
        dead from then on.
        """
    static let examples = [
        Example(
            "siwa refresh --token @env:APPLE_REFRESH_TOKEN", "Validate the token in a variable."),
        Example("siwa refresh --user 001234.5678.0910", "Validate a token of the vault."),
    ]
    static let parameters: [Parameter<Self>] =
        TokenOptions.parameters(at: \.source) + [
            .flag(
                "dry-run", \.isDryRun, help: "Print the request with secrets masked; send nothing.")
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    var source = TokenOptions()
    var isDryRun = false

    func run(in world: World) async throws {
        try checkCombination()
        let session = try Session(
            TypedSettings(global: global, vault: source.vault), in: world)
        if let argument = source.token {
            let secret = try session.opaqueToken(argument, "--token")
            try await refresh(RefreshToken(secret), session, stored: nil)
        } else if let user = source.user {
            let stored = try StoredToken(of: user, session)
            try await refresh(stored.token, session, stored: stored)
        }
    }

    private func refresh(
        _ token: RefreshToken, _ session: Session, stored: StoredToken?
    ) async throws {
        let requests = try Requests(session)
        guard !isDryRun else { return try requests.rehearse([.refresh(token)]) }
        do {
            let answer = try await requests.perform { tokens throws(TokenFailure) in
                try await tokens.refresh(token)
            }
            // The answer is good whatever becomes of the note.
            let noted = Result { try stored?.note(.refreshed) }
            try session.report(
                Report(
                    .object(answer.members(at: session.world.clocks.now())),
                    of: Deed(
                        "Apple accepted the refresh token",
                        hint: "fix standard output, then run it again for an access token")))
            try noted.get()
        } catch let error as RequestError where error.failure.isInvalidGrant {
            try stored?.note(.refreshRefused)
            throw error
        }
    }

    private func checkCombination() throws(UsageError.Problem) {
        try source.check()
        guard (source.token == nil) != (source.user == nil) else {
            throw UsageError.Problem.misuse(
                "refresh needs --token or --user, and not both",
                hint: "--user takes the token out of the vault")
        }
    }
}
