internal import SIWAJOSE
internal import SIWALifecycle

// grant_type=authorization_code.
extension Service {
    mutating func exchange(_ form: ReceivedForm) throws -> Answer {
        let credentials = try credentials(form)
        let text = try form.required("code", or: behaviors.missingCode)
        let code = try authenticate(
            credentials, presenting: text, lookingUp: { try find(code: text) },
            checking: { try check($0, for: credentials, form) }
        ).found
        ledger.spendCode(text)
        return try openSession(
            for: code, as: preparedAnswers.removeValue(forKey: text))
    }

    private func find(code text: String) throws(Refusal) -> Ledger.Code {
        guard let code = ledger.code(text) else {
            throw Refusal(
                .invalidGrant, saying: Refusal.codeExpired,
                in: "code", because: "\(TokenText.appearance(of: text))")
        }
        let age = (now() - code.issuedAt).words()
        examination.passed("code", "issued to \(code.clientID) \(age) ago")
        return code
    }

    /// Checks client, use, age, redirect URI and PKCE. The order is inferred; the messages are
    /// recorded.
    private func check(
        _ code: Ledger.Code, for credentials: ClientCredentials, _ form: ReceivedForm
    ) throws {
        guard code.clientID.rawValue == credentials.clientID else {
            throw Refusal(
                .invalidGrant, saying: mismatch("client_id", credentials.clientID),
                in: "code", because: "issued to \(code.clientID)")
        }
        guard !code.isUsed else {
            throw Refusal(
                .invalidGrant, saying: Refusal.codeUsed, in: "code", because: "exchanged before")
        }
        guard now() < code.issuedAt + behaviors.codeLifetime else {
            let age = (now() - code.issuedAt).words()
            throw Refusal(
                .invalidGrant, saying: Refusal.codeExpired, in: "code", because: "\(age) old")
        }
        examination.passed("code", "of this client, unused, younger than its lifetime")
        try checkRedirect(form["redirect_uri"], against: code.redirectURI)
        examination.passed(
            "redirect_uri", form["redirect_uri"] == nil ? "none, as at the sign-in" : "fits")
        try PKCEChallenge.check(
            code.challenge, against: form["code_verifier"], or: behaviors.pkceFailure)
        examination.passed(
            "code_verifier", code.challenge == nil ? "none, as at the sign-in" : "fits")
    }

    /// Reports differ on whether a redirect_uri with an app's code is accepted; refusing it is the
    /// strict choice.
    private func checkRedirect(_ sent: String?, against signIn: String?) throws(Refusal) {
        if signIn == nil, behaviors.acceptsSpareRedirect { return }
        if let sent, let signIn, sent.isExactly(signIn) { return }
        if sent == nil, signIn == nil { return }
        let verdict =
            switch (sent, signIn) {
            case (nil, let signIn?): "missing, the sign-in went to '\(signIn)'"
            case (_, nil): "sent, but the sign-in had none"
            case (_, let signIn?): "differs from the sign-in's '\(signIn)'"
            }
        let isDescribed =
            behaviors.mismatchDescribesRedirect && behaviors.redirectMismatch == .invalidGrant
        throw Refusal(
            behaviors.redirectMismatch,
            // What Apple says of a redirect_uri that is missing is not recorded.
            saying: isDescribed ? sent.map { mismatch("redirect_uri", $0) } : nil,
            in: "redirect_uri", because: verdict)
    }

    private func mismatch(_ parameter: String, _ sent: String) -> String {
        "\(parameter) mismatch. The code was not issued to \(sent)"
            + (behaviors.mismatchFullStop ? "." : "")
    }

    /// - Parameter prepared: how the answer differs from a good one.
    private mutating func openSession(
        for code: Ledger.Code, as prepared: PreparedAnswer?
    ) throws -> Answer {
        let shard = try TokenText.shard(of: code.user.userID)
        let refreshToken = TokenText.new(.refresh, shard: shard, using: &random.tokens)
        let session = Ledger.Session(
            clientID: code.clientID, teamID: owner.teamID, user: code.user, nonce: code.nonce,
            signedInAt: code.issuedAt, lastUsedAt: now())
        let id = ledger.open(session, refreshToken: refreshToken)
        let accessToken = issueAccessToken(
            of: id, shard: shard, as: prepared?.accessToken)
        let idToken = try identityToken(
            IssuedClaims(
                clientID: code.clientID, user: code.user, companion: .accessToken(accessToken),
                nonce: code.nonce, signedInAt: code.issuedAt),
            altered: prepared?.alteration)
        let members =
            tokenMembers(accessToken: accessToken) + [
                JSON.Member("refresh_token", .string(refreshToken)),
                JSON.Member("id_token", .string(idToken)),
            ]
        return Answer(.json(.object(members)), because: "ok: '\(code.user.name)' signed in")
    }
}
