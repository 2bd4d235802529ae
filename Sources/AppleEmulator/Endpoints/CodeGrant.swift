internal import SignInWithApple

// grant_type=authorization_code.
extension Service {
    mutating func exchange(_ form: ReceivedForm) throws -> Answer {
        let credentials = try ClientCredentials(form)
        let text = try form.required("code")
        let code = try authenticate(credentials) { try find(code: text) }.found
        try check(code, for: credentials, form)
        ledger.spendCode(text)
        return try openSession(for: code)
    }

    private func find(code text: String) throws(Refusal) -> Ledger.Code {
        guard let code = ledger.code(text) else {
            throw Refusal(
                .invalidGrant, saying: Refusal.codeExpired,
                because: "code: \(TokenText.appearance(of: text))")
        }
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
                because: "code: issued to \(code.clientID)")
        }
        guard !code.isUsed else {
            throw Refusal(
                .invalidGrant, saying: Refusal.codeUsed, because: "code: exchanged before")
        }
        guard now() < code.issuedAt + switches.codeLifetime else {
            let age = (now() - code.issuedAt).components.seconds
            throw Refusal(
                .invalidGrant, saying: Refusal.codeExpired, because: "code: \(age) s old")
        }
        try checkRedirect(form["redirect_uri"], against: code.redirectURI)
        try PKCEChallenge.check(code.challenge, against: form["code_verifier"])
    }

    /// A spare redirect_uri on an app's code works for some and is blamed by others; the
    /// cautious answer is no.
    private func checkRedirect(_ sent: String?, against signIn: String?) throws(Refusal) {
        if signIn == nil, switches.acceptsSpareRedirect { return }
        if let sent, let signIn, sent.isExactly(signIn) { return }
        if sent == nil, signIn == nil { return }
        let verdict =
            switch (sent, signIn) {
            case (nil, let signIn?): "missing, the sign-in went to '\(signIn)'"
            case (_, nil): "sent, but the sign-in had none"
            case (_, let signIn?): "differs from the sign-in's '\(signIn)'"
            }
        let code: Refusal.Code =
            switches.redirectMismatch == .invalidGrant ? .invalidGrant : .invalidClient
        throw Refusal(code, because: "redirect_uri: \(verdict)")
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
