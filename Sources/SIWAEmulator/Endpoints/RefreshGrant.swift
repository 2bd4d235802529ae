internal import SIWAJOSE
internal import SIWALifecycle

// grant_type=refresh_token.
extension Service {
    mutating func refresh(_ form: ReceivedForm) throws -> Answer {
        let credentials = try credentials(form)
        let text = try form.required("refresh_token")
        let (id, user) = try authenticate(
            credentials, presenting: text, lookingUp: { try find(refreshToken: text) },
            checking: { try check(ledger[$0.0], for: credentials) }
        ).found
        let session = ledger[id]
        ledger.use(id, at: now())
        let shard = try TokenText.shard(of: user.userID)
        let accessToken = issueAccessToken(of: id, shard: shard)
        var members = tokenMembers(accessToken: accessToken)
        if behaviors.refreshIDToken {
            let idToken = try identityToken(
                claims(of: session, user, accessToken))
            members.append(JSON.Member("id_token", .string(idToken)))
        }
        return Answer(.json(.object(members)), because: "ok: session of '\(user.name)' is alive")
    }

    private func claims(
        of session: Ledger.Session, _ user: EmulatedUser, _ accessToken: String
    ) -> IssuedClaims {
        let signedInAt: NumericDate? =
            switch behaviors.refreshAuthTime {
            case .signIn: session.signedInAt
            case .refresh: now()
            case .absent: nil
            }
        return IssuedClaims(
            clientID: session.clientID, user: user, companion: .accessToken(accessToken),
            nonce: behaviors.refreshNonce ? session.nonce : nil, signedInAt: signedInAt,
            realUserStatus: behaviors.refreshRealUserStatus ? user.realUserStatus : nil)
    }

    private func checkAge(of session: Ledger.Session) throws(Refusal) {
        let lifetime = behaviors.refreshTokenLifetime
        guard lifetime > .zero, now() - session.lastUsedAt >= lifetime else { return }
        throw Refusal(
            .invalidGrant, saying: Refusal.tokenExpired, in: "refresh_token",
            because: "not used since \(session.lastUsedAt.rfc3339)")
    }

    private func check(
        _ session: Ledger.Session, for credentials: ClientCredentials
    ) throws(Refusal) {
        guard session.clientID.rawValue == credentials.clientID else {
            // Documented as invalid_grant; no description is recorded, so none is sent.
            throw Refusal(
                .invalidGrant, in: "refresh_token", because: "issued to \(session.clientID)")
        }
        guard session.teamID == owner.teamID || behaviors.transferredTokens == .accepted else {
            throw Refusal(
                .invalidGrant, saying: Refusal.tokenExpired, in: "refresh_token",
                because: "issued to team \(session.teamID), before the transfer")
        }
    }

    private func find(
        refreshToken text: String
    ) throws(Refusal) -> (Ledger.SessionID, EmulatedUser) {
        guard let id = ledger.session(refreshToken: text), let user = ledger[id].user else {
            throw Refusal(
                .invalidGrant, saying: Refusal.tokenExpired,
                in: "refresh_token", because: "\(TokenText.appearance(of: text))")
        }
        guard !ledger[id].isRevoked else {
            let code = behaviors.refreshAfterRevoke
            throw Refusal(
                code, saying: code == .invalidGrant ? Refusal.tokenExpired : nil,
                in: "refresh_token", because: "its session was revoked")
        }
        try checkAge(of: ledger[id])
        examination.passed("refresh_token", "issued to \(ledger[id].clientID) for '\(user.name)'")
        return (id, user)
    }
}
