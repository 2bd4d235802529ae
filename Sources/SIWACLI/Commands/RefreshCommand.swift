internal import CommandTable
internal import SignInWithApple

/// `siwa refresh`: validate a refresh token.
struct RefreshCommand: Command {
    static let name = "refresh"
    static let abstract = "Validate a refresh token and get a new access token."
    static let discussion = """
        Prints Apple's answer, with expires_at for the access token. Apple does not issue a new \
        refresh token: keep the old one. Apple wants this at most once a day for each user.
        """
    static let examples = [
        Example(
            "siwa refresh --token @env:APPLE_REFRESH_TOKEN", "Validate the token in a variable.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option("token", \.$token, value: "TOKEN", help: "The refresh token."),
            .flag(
                "dry-run", \.isDryRun, help: "Print the request with secrets masked; send nothing."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var token: SecretArgument
    var isDryRun = false

    func run(in world: World) async throws {
        let session = try Session(TypedSettings(global: global), in: world)
        let secret = try session.secret(token, "--token")
        try refuseMisshapen(secret, "--token")
        let token = RefreshToken(secret)
        let requests = try Requests(session)
        guard !isDryRun else { return try requests.rehearse([.refresh(token)]) }
        let answer = try await requests.perform { tokens throws(TokenFailure) in
            try await tokens.refresh(token)
        }
        try session.report(Report(.object(answer.members(at: world.clocks.now()))))
    }
}
