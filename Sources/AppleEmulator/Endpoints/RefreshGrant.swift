internal import SignInWithApple

// grant_type=refresh_token.
extension Service {
    mutating func refresh(_ form: ReceivedForm) throws -> Answer {
        let credentials = try ClientCredentials(form)
        let text = try form.required("refresh_token")
        let (id, user) = try authenticate(credentials) { try find(refreshToken: text) }.found
        let session = ledger[id]
        guard session.clientID.rawValue == credentials.clientID else {
            // Documented as invalid_grant; no description is recorded, so none is sent.
            throw Refusal(
                .invalidGrant, because: "refresh_token: issued to \(session.clientID)")
        }
        let shard = try TokenText.shard(of: user.userID)
        let accessToken = issueAccessToken(of: id, shard: shard)
        var members = tokenMembers(accessToken: accessToken)
        if switches.refreshIDToken {
            let idToken = try identityToken(
                IdentityTokenClaims(
                    clientID: session.clientID, user: user, companion: .accessToken(accessToken),
                    nonce: switches.refreshNonce ? session.nonce : nil,
                    signedInAt: session.signedInAt))
            members.append(JSON.Member("id_token", .string(idToken)))
        }
        return Answer(.json(.object(members)), because: "ok: session of '\(user.name)' is alive")
    }

    private func find(
        refreshToken text: String
    ) throws(Refusal) -> (Ledger.SessionID, EmulatedUser) {
        guard let id = ledger.session(refreshToken: text), let user = ledger[id].user else {
            throw Refusal(
                .invalidGrant, saying: Refusal.tokenExpired,
                because: "refresh_token: \(TokenText.appearance(of: text))")
        }
        guard !ledger[id].isRevoked else {
            let verdict = "refresh_token: its session was revoked"
            throw switches.refreshAfterRevoke == .invalidRequest
                ? Refusal(.invalidRequest, because: verdict)
                : Refusal(.invalidGrant, saying: Refusal.tokenExpired, because: verdict)
        }
        return (id, user)
    }
}
