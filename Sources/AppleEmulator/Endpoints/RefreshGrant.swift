internal import SignInWithApple

// grant_type=refresh_token.
extension Service {
    mutating func refresh(_ form: ReceivedForm) throws -> Answer {
        let credentials = try ClientCredentials(form)
        let text = try form.required("refresh_token")
        let (id, user) = try authenticate(credentials) {
            try find(refreshToken: text, form.trail)
        }.found
        let session = ledger[id]
        guard session.clientID.rawValue == credentials.clientID else {
            // Documented as invalid_grant; no description is recorded, so none is sent.
            throw Refusal(
                .invalidGrant, check: "refresh_token", because: "issued to \(session.clientID)")
        }
        form.trail.passed("refresh_token", "issued to \(session.clientID)")
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
        refreshToken text: String, _ trail: CheckTrail
    ) throws(Refusal) -> (Ledger.SessionID, EmulatedUser) {
        guard let id = ledger.session(refreshToken: text), let user = ledger[id].user else {
            throw Refusal(
                .invalidGrant, saying: Refusal.tokenExpired,
                check: "refresh_token", because: "\(TokenText.appearance(of: text))")
        }
        guard !ledger[id].isRevoked else {
            let isGrant = switches.refreshAfterRevoke == .invalidGrant
            throw Refusal(
                isGrant ? .invalidGrant : .invalidRequest,
                saying: isGrant ? Refusal.tokenExpired : nil, check: "refresh_token",
                because: "its session was revoked")
        }
        trail.passed("refresh_token", "of a live session of '\(user.name)'")
        return (id, user)
    }
}
