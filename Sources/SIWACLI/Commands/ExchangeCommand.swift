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

        --store keeps the refresh token in the vault, under the user that the identity token names, \
        before anything is printed. When it cannot be stored the tokens are printed all the same, \
        and the exit code is 1.

        When the answer is lost, the exit code is 7 and the code may be spent. When the identity \
        token does not verify, the tokens are printed all the same and the exit code is 1.

        After the code may have left, SIGINT, SIGTERM and SIGHUP, repeated or not, give Apple's \
        answer 10 s and storing 2 s. Then all of the result is printed, not one member of it.
        """
    static let examples = [
        Example(
            "siwa exchange --code - --print refresh_token < code.txt",
            "Print the refresh token, the code never standing on a command line."),
        Example(
            "siwa exchange --code - --store --print user_id < code.txt",
            "Keep the refresh token in the vault."),
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
            .flag("store", \.isStoring, help: "Keep the refresh token in the vault."),
            VaultArgument.option(\.vault),
            .flag(
                "dry-run", \.isDryRun, help: "Print the request with secrets masked; send nothing."),
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    @Required var code: SecretArgument
    var redirectURI: String?
    var codeVerifier: SecretArgument?
    var nonce: SecretArgument?
    var audiences: [String] = []
    var isStoring = false
    var vault: VaultArgument?
    var isDryRun = false

    func run(in world: World) async throws {
        try checkCombination()
        if !isDryRun { try global.checkPrinted(among: members) }
        let session = try Session(
            TypedSettings(
                global: global, redirectURI: redirectURI, audiences: audiences, vault: vault),
            in: world)
        let code = try session.opaqueToken(code, "--code")
        let verifier = try codeVerifier.map {
            CodeVerifier(try session.secret($0, "--code-verifier"))
        }
        let nonce = try nonce.map { try session.secret($0, "--nonce") }
        let requests = try Requests(session, codeVerifier: verifier)
        guard !isDryRun else {
            return try requests.rehearse([requests.exchange(of: AuthorizationCode(code))])
        }
        try requests.checkOutput()
        // Before the code is spent: a vault that cannot be opened is found in time.
        let vault = isStoring ? try session.vault() : nil
        let answer = try await requests.perform(as: .code) { tokens throws(TokenFailure) in
            try await tokens.exchange(
                AuthorizationCode(code), redirectURI: requests.redirectURI, codeVerifier: verifier)
        }
        try await report(answer, requests, nonce, storingIn: vault)
    }

    /// A code is spent by one look: a misspelt member must be found before it is.
    private var members: [String] {
        TokenResponse.memberNames + TokenResponse.addedMemberNames + ["user_id"]
            + (isStoring ? ["stored"] : [])
    }

    private func checkCombination() throws(UsageError.Problem) {
        guard vault == nil || isStoring else {
            throw UsageError.Problem.misuse(
                "--vault goes with --store", hint: "add --store to keep the refresh token")
        }
    }

    private func report(
        _ answer: TokenResponse, _ requests: Requests, _ nonce: SecretText?,
        storingIn vault: Vault?
    ) async throws {
        let ending = requests.session.world.ending
        let now = requests.session.world.clocks.now()
        ending.begin(.keys)
        let verification = await verify(answer, requests, nonce, at: now)
        // Only a verified user may stand there, whatever the answer calls its members.
        var members = answer.members(at: now).filter { $0.name != "user_id" }
        if let user = verification?.claims?.userID {
            members.append(.init("user_id", .string(user.rawValue)))
        }
        let failures = verification?.failures ?? []
        let stored = vault.map { vault in
            ending.begin(.storing)
            return Result {
                try store(answer, of: verification?.claims?.userID, in: vault, requests)
            }
        }
        if let stored { members.append(.init("stored", .boolean((try? stored.get()) != nil))) }
        do {
            let isStored = stored.map { (try? $0.get()) != nil } ?? false
            try requests.reportOnce(Report(.object(members), of: .exchange(isStored: isStored)))
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
                ], requestID: answer.requestID)
        }
        guard failures.isEmpty else {
            throw VerifiedSubject.identityToken.refusal(
                failures,
                hints: ["what was printed is good; do not trust who it says the user is"]
                    + (vault == nil ? [] : [NotStored.remedy]), requestID: answer.requestID)
        }
        try stored?.get()
    }

    /// Keeps the refresh token under the user whom the identity token names.
    private func store(
        _ answer: TokenResponse, of userID: UserID?, in vault: Vault, _ requests: Requests
    ) throws {
        guard let token = answer.refreshToken else {
            throw NotStored("Apple's answer has no refresh token")
        }
        guard let userID else { throw NotStored("no identity token tells whose it is") }
        let user: VaultUser
        do {
            user = try VaultUser(requests.client.clientID, validating: userID.rawValue)
        } catch {
            throw NotStored("the user \(error.fault)")
        }
        var vault = vault
        do {
            let now = requests.session.world.clocks.now()
            try vault.renewing(requests.session.vaultKeys) { vault throws(VaultError) in
                try vault.store(token, for: user, at: now)
            }
        } catch {
            throw NotStored(Diagnosis(error).message)
        }
    }

    /// Nil when there is no identity token and none was needed.
    private func verify(
        _ answer: TokenResponse, _ requests: Requests, _ nonce: SecretText?, at now: NumericDate
    ) async -> IdentityTokenVerification? {
        guard let token = answer.identityToken else {
            return nonce.map { _ in
                IdentityTokenVerification(
                    impossible: .identityToken, "Apple's answer has none")
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
            return IdentityTokenVerification(impossible: .key, Diagnosis(error).message)
        }
    }
}

extension Deed {
    /// A code was exchanged.
    ///
    /// - Parameter isStored: whether the vault has the refresh token.
    static func exchange(isStored: Bool) -> Deed {
        isStored
            ? Deed(
                "the code was exchanged, and its refresh token is stored in the vault",
                hint: "read it with 'siwa refresh --user' or 'siwa vault export --reveal'")
            : Deed(
                "the code was exchanged",
                hint: "its tokens are lost: fix standard output, and ask the user to sign in again")
    }
}
