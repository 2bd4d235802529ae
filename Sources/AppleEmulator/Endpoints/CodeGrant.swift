internal import SignInWithApple

// grant_type=authorization_code.
extension Service {
    mutating func exchange(_ form: ReceivedForm) throws -> Answer {
        let credentials = try ClientCredentials(form)
        let text = try form.required("code")
        let code = try authenticate(credentials) { try find(code: text, form.trail) }.found
        try check(code, for: credentials, form)
        ledger.spendCode(text)
        return try openSession(for: code)
    }

    private func find(
        code text: String, _ trail: CheckTrail
    ) throws(Refusal) -> Ledger.Code {
        guard let code = ledger.code(text) else {
            throw Refusal(
                .invalidGrant, saying: Refusal.codeExpired,
                check: "code", because: "\(TokenText.appearance(of: text))")
        }
        trail.passed("code", "known, of the sign-in of '\(code.user.name)'")
        return code
    }

    /// Client, use, age, redirect, PKCE: the order is inferred, the strings are recorded.
    private func check(
        _ code: Ledger.Code, for credentials: ClientCredentials, _ form: ReceivedForm
    ) throws {
        guard code.clientID.rawValue == credentials.clientID else {
            let stop = switches.mismatchFullStop ? "." : ""
            throw Refusal(
                .invalidGrant,
                saying: "client_id mismatch. The code was not issued to "
                    + credentials.clientID + stop,
                check: "code", because: "issued to \(code.clientID)")
        }
        guard !code.isUsed else {
            throw Refusal(
                .invalidGrant, saying: Refusal.codeUsed, check: "code", because: "exchanged before")
        }
        form.trail.passed("code", "issued to \(code.clientID), not exchanged before")
        let age = (now() - code.issuedAt).components.seconds
        guard now() < code.issuedAt + switches.codeLifetime else {
            throw Refusal(
                .invalidGrant, saying: Refusal.codeExpired, check: "code", because: "\(age) s old")
        }
        form.trail.passed("code", "\(age) s old")
        try checkRedirect(form["redirect_uri"], against: code.redirectURI)
        form.trail.passed(
            "redirect_uri",
            form["redirect_uri"] == nil ? "absent, as in the sign-in" : "the one of the sign-in")
        try PKCEChallenge.check(code.challenge, against: form["code_verifier"], form.trail)
    }

    /// A spare redirect_uri on an app's code works for some and is blamed by others; the
    /// cautious answer is no.
    private func checkRedirect(_ sent: String?, against signIn: String?) throws(Refusal) {
        if signIn == nil, switches.acceptsSpareRedirect { return }
        if let sent, let signIn, sent.isExactly(signIn) { return }
        if sent == nil, signIn == nil { return }
        let seen =
            switch (sent, signIn) {
            case (nil, let signIn?): "missing, the sign-in went to '\(signIn)'"
            case (_, nil): "sent, but the sign-in had none"
            case (_, let signIn?): "differs from the sign-in's '\(signIn)'"
            }
        let code: Refusal.Code =
            switches.redirectMismatch == .invalidGrant ? .invalidGrant : .invalidClient
        throw Refusal(code, check: "redirect_uri", because: seen)
    }

    private mutating func openSession(for code: Ledger.Code) throws -> Answer {
        let shard = try TokenText.shard(of: code.user.userID)
        let refreshToken = TokenText.fresh(.refresh, shard: shard)
        let session = Ledger.Session(
            clientID: code.clientID, teamID: owner.teamID, user: code.user, nonce: code.nonce,
            signedInAt: code.issuedAt)
        let id = ledger.open(session, refreshToken: refreshToken)
        let accessToken = issueAccessToken(of: id, shard: shard)
        let idToken = try identityToken(
            IdentityTokenClaims(
                clientID: code.clientID, user: code.user, companion: .accessToken(accessToken),
                nonce: code.nonce, signedInAt: code.issuedAt))
        let members =
            tokenMembers(accessToken: accessToken) + [
                JSON.Member("refresh_token", .string(refreshToken)),
                JSON.Member("id_token", .string(idToken)),
            ]
        return Answer(.json(.object(members)), because: "ok: '\(code.user.name)' signed in")
    }
}
