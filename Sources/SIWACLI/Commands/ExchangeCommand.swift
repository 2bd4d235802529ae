internal import CommandTable
internal import SIWACrypto
internal import SignInWithApple

/// `siwa exchange`: trade an authorization code for tokens.
struct ExchangeCommand: Command {
    static let name = "exchange"
    static let abstract = "Exchange an authorization code for tokens."
    static let discussion = """
        Prints Apple's answer, with expires_at for the access token and, when the identity token \
        verifies, user_id. A code works once: it is sent at most once, and only sent again when \
        certainly nothing left this machine.

        When the answer is lost, the exit code is 7 and the code may be spent. When the identity \
        token does not verify, the tokens are printed all the same and the exit code is 1.
        """
    static let examples = [
        Example(
            "siwa exchange --code - --print refresh_token < code.txt",
            "Print the refresh token, the code never standing on a command line.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option("code", \.$code, value: "CODE", help: "The authorization code."),
            .option(
                "redirect-uri", \.redirectURI, value: "URI",
                help: "As in the sign-in, for a code that came through the web."),
            .option(
                "code-verifier", \.codeVerifier, value: "VERIFIER",
                help: "For a sign-in that carried a code_challenge (PKCE)."),
            .option(
                "nonce", \.nonce, value: "NONCE",
                help: "Check that the identity token carries this nonce, raw or hashed."),
            .option(
                "audience", \.audiences, value: "ID",
                help: "Accept identity tokens for this client id."),
            .flag(
                "dry-run", \.isDryRun, help: "Print the request with secrets masked; send nothing."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    @Required var code: SecretArgument
    var redirectURI: String?
    var codeVerifier: SecretArgument?
    var nonce: SecretArgument?
    var audiences: [String] = []
    var isDryRun = false

    func run(in world: World) async throws {
        if !isDryRun { try global.checkPrinted(among: Self.members) }
        let session = try Session(
            TypedSettings(global: global, redirectURI: redirectURI, audiences: audiences), in: world
        )
        let code = try session.secret(code, "--code")
        try refuseMisshapen(code, "--code")
        let verifier = try codeVerifier.map {
            CodeVerifier(try session.secret($0, "--code-verifier"))
        }
        let nonce = try nonce.map { try session.secret($0, "--nonce") }
        let requests = try Requests(session, codeVerifier: verifier)
        guard !isDryRun else {
            return try requests.rehearse([requests.exchange(of: AuthorizationCode(code))])
        }
        try requests.checkOutput()
        let answer = try await requests.perform { tokens throws(TokenFailure) in
            try await tokens.exchange(
                AuthorizationCode(code), redirectURI: requests.redirectURI, codeVerifier: verifier)
        }
        try await report(answer, requests, nonce)
    }

    /// A code is spent by one look: a misspelt member must be found before it is.
    private static let members = TokenResponse.memberNames + ["expires_at", "user_id"]

    private func report(
        _ answer: TokenResponse, _ requests: Requests, _ nonce: SecretText?
    ) async throws {
        let now = requests.session.world.clocks.now()
        let verification = await verify(answer, requests, nonce, at: now)
        // Only a verified user may stand there, whatever the answer calls its members.
        var members = answer.members(at: now).filter { $0.name != "user_id" }
        if let user = verification?.claims?.userID {
            members.append(.init("user_id", .string(user.rawValue)))
        }
        let failures = verification?.failures ?? []
        do {
            try requests.reportOnce(Report(.object(members)))
        } catch let error as AbsentMember {
            // What is missing is missing because of what failed: that is the better message.
            guard !failures.isEmpty else { throw error }
            throw VerifiedSubject.identityToken.refusal(
                failures,
                hints: [
                    """
                    the code is spent all the same: sign in again, and omit --print to get the \
                    tokens
                    """
                ])
        }
        guard failures.isEmpty else {
            throw VerifiedSubject.identityToken.refusal(
                failures, hints: ["what was printed is good; do not trust who it says the user is"])
        }
    }

    /// Nil when there is no identity token and none was needed.
    private func verify(
        _ answer: TokenResponse, _ requests: Requests, _ nonce: SecretText?, at now: NumericDate
    ) async -> IdentityTokenVerification? {
        guard let token = answer.identityToken else {
            return nonce.map { _ in
                IdentityTokenVerification(
                    impossible: "identity_token", "Apple's answer has none")
            }
        }
        let jws: CompactJWS
        do {
            jws = try CompactJWS(token.bytes.revealed())
        } catch {
            return IdentityTokenVerification(error)
        }
        do {
            let verifier = TokenVerifier(
                keySet: try await AppleKeys(requests.network).keySet(for: jws),
                audiences: try requests.session.settings.audiences())
            return verifier.verify(
                identityToken: jws,
                boundTo: TokenBinding(
                    nonce: nonce, accessToken: answer.accessToken, acceptsMissingHashes: true),
                at: now)
        } catch {
            return IdentityTokenVerification(impossible: "key", Diagnosis(error).message)
        }
    }
}
