public import CommandTable
public import SignInWithApple

/// `siwa revoke`: have Apple forget a token.
struct RevokeCommand: Command {
    static let name = "revoke"
    static let abstract = "Revoke a token, as the deletion of an account demands."
    static let discussion = """
        Apple answers 200 to anything, so the result says what is known. --confirm refreshes \
        afterwards and expects a refusal: then the token is dead. That alone does not prove that \
        this call did it, because Apple refuses another client's token too; --check-first \
        refreshes before as well. A token that was dead already is not sent.

        --user takes the token out of the vault. The vault notes the intent before anything is \
        sent, and the end afterwards: after a crash in between, the same command ends it.

        --code exchanges and revokes in one step, for an account whose token was never stored.
        """
    static let examples = [
        Example(
            "siwa revoke --token @env:APPLE_REFRESH_TOKEN --check-first",
            "Revoke a refresh token and prove it."),
        Example("siwa revoke --user 001234.5678.0910", "Revoke a token of the vault."),
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
        ] + GlobalOptions.parameters(at: \.global)

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
        if let token = source.token {
            let secret = try session.opaqueToken(token, "--token")
            try await revoke(secret, try Requests(session), stored: nil)
        } else if let user = source.user {
            let stored = try StoredToken(of: user, session)
            try await revoke(stored.token.text, try Requests(session), stored: stored)
        } else if let code {
            let secret = try session.opaqueToken(code, "--code")
            let requests = try Requests(session, codeVerifier: verifier)
            try await revoke(AuthorizationCode(secret), requests)
        }
    }

    private func revoke(
        _ token: SecretText, _ requests: Requests, stored: StoredToken?
    ) async throws {
        guard !isDryRun else { return try requests.rehearse(sequence(token)) }
        let earlier = stored.flatMap { $0.record.state == .revoked ? $0 : nil }
        if let earlier, proof == .none {
            return try report(
                earlier, Revocation(status: nil, wasActive: nil, evidence: nil), requests)
        }
        // What was revoked keeps its date, unless it turns out to work.
        if earlier == nil || proof == .afterwards { try stored?.note(.revocationBegun) }
        let revocation = try await carryOut(token, requests)
        if let earlier, revocation.wasActive == false {
            return try report(earlier, revocation, requests)
        }
        if revocation.wasActive == false {
            requests.session.console.warn(
                "nothing was sent: the token is dead already, or another client's; "
                    + "check --client-id and --profile")
        }
        // What Apple did is done, whatever becomes of the note.
        let noted = Result {
            if revocation.wasActive == true { try earlier?.note(.revocationBegun) }
            if revocation.isDead { try stored?.note(.revoked) }
        }
        try requests.session.report(report(revocation, token, requests))
        try checkDead(revocation)
        try noted.get()
    }

    /// Exchanges the code first. From then on nobody but this process has the token.
    private func revoke(_ code: AuthorizationCode, _ requests: Requests) async throws {
        guard !isDryRun else {
            let unknown = SecretText("the \(kind.rawValue) of the answer")
            return try requests.rehearse(
                [requests.exchange(of: code)] + sequence(unknown), unknown: unknown)
        }
        try requests.checkOutput()
        let token = try await exchange(code, requests)
        do {
            let revocation = try await carryOut(token, requests)
            try requests.reportOnce(report(revocation, token, requests))
            try checkDead(revocation)
        } catch var error as RequestError {
            try requests.reportOnce(handingOut(token, requests), isWhole: true)
            error.remedy =
                "the code is spent, but the token was printed: "
                + "siwa revoke --token - --kind \(kind.rawValue)"
            throw error
        }
    }

    private var proof: Revocation.Proof {
        isCheckedFirst ? .beforeAndAfterwards : isConfirmed ? .afterwards : .none
    }

    /// What the result will have, so that a misspelt member is found before anything is revoked.
    private var memberNames: [String] {
        ["revoked", "confirmed", "kind", "client_id", "token_fingerprint", "http_status", "at"]
            + (isCheckedFirst ? ["was_active"] : []) + (proof == .none ? [] : ["evidence"])
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

    private func exchange(_ code: AuthorizationCode, _ requests: Requests) async throws
        -> SecretText
    {
        let answer = try await requests.perform { tokens throws(TokenFailure) in
            try await tokens.exchange(
                code, redirectURI: requests.redirectURI, codeVerifier: requests.codeVerifier)
        }
        switch kind {
        case .accessToken: return answer.accessToken.text
        case .refreshToken:
            guard let token = answer.refreshToken else {
                throw NegativeAnswer(
                    "no_refresh_token",
                    "the code was exchanged, but Apple's answer has no refresh token",
                    hints: ["ask for a new sign-in and use --kind access_token"],
                    requestID: answer.requestID)
            }
            return token.text
        }
    }

    /// The requests that would be sent, in their order.
    private func sequence(_ secret: SecretText) -> [TokenRequest] {
        let refresh = TokenRequest.refresh(RefreshToken(secret))
        let revoke = TokenRequest.revoke(secret, kind)
        return switch proof {
        case .none: [revoke]
        case .afterwards: [revoke, refresh]
        case .beforeAndAfterwards: [refresh, revoke, refresh]
        }
    }

    private func carryOut(
        _ token: SecretText, _ requests: Requests
    ) async throws(RequestError) -> Revocation {
        try await requests.perform { tokens throws(TokenFailure) in
            try await tokens.revoke(token, as: kind, proof: proof)
        }
    }

    private func checkDead(_ revocation: Revocation) throws(NegativeAnswer) {
        guard revocation.evidence == .refreshAccepted else { return }
        throw NegativeAnswer(
            "not_revoked",
            "Apple answered \(revocation.status ?? 0), but the token still works",
            hints: ["check that the token belongs to this client: --client-id, --profile"])
    }
}

// The result.
extension RevokeCommand {
    private func report(
        _ revocation: Revocation, _ token: SecretText, _ requests: Requests
    ) -> Report {
        Report(
            .object(
                revocation.members(
                    kind, requests.loaded.client.clientID, token,
                    at: requests.session.world.clocks.now())))
    }

    /// Of a token that an earlier run revoked, and what is known of it now: it is not sent again.
    private func report(
        _ earlier: StoredToken, _ revocation: Revocation, _ requests: Requests
    ) throws {
        let moment = earlier.record.changedAt
        requests.session.console.note("it was revoked at \(moment.rfc3339); nothing was sent")
        let members = revocation.members(
            kind, earlier.record.user.clientID, earlier.token.text, at: moment)
        let isConfirmed = revocation.evidence == .refreshRejected
        try requests.session.report(
            Report(
                .object(
                    [.init("revoked", true), .init("confirmed", .boolean(isConfirmed))]
                        + members.dropFirst(2))))
    }

    /// A token that could not be revoked and that nobody else has: without it the account could
    /// not be revoked before its user signs in once more.
    private func handingOut(_ token: SecretText, _ requests: Requests) -> Report {
        Report([
            "confirmed": false, "kind": .string(kind.rawValue),
            "client_id": .string(requests.loaded.client.clientID.rawValue),
            "token_fingerprint": .string(token.fingerprint),
            "at": .string(requests.session.world.clocks.now().rfc3339),
            kind.rawValue: .string(token.revealed()),
        ])
    }
}

extension TokenKind: ParameterValue {}
