internal import SIWACrypto
internal import SignInWithApple

// POST /auth/token: three grants.
extension Service {
    mutating func token(_ form: ReceivedForm) throws -> Answer {
        try form.refuseRepetition()
        form.trail.passed("parameters", "readable, each sent once")
        switch try form.required("grant_type") {
        case "authorization_code": return try exchange(form)
        case "refresh_token": return try refresh(form)
        case "client_credentials": return try issueTeamToken(form)
        case let other:
            throw Refusal(
                .unsupportedGrantType, check: "grant_type",
                because: "'\(other.clipped)' is not offered")
        }
    }

    /// Issues an access token for a session.
    mutating func issueAccessToken(
        of session: Ledger.SessionID, shard: String
    ) -> String {
        let text = TokenText.fresh(.access, shard: shard)
        ledger.record(
            accessToken: text, of: session, at: now(), lifetime: switches.accessTokenLifetime)
        return text
    }

    /// Signs what one identity token says.
    func identityToken(_ claims: IdentityTokenClaims) throws(OpenSSLError) -> String {
        var claims = claims
        claims.subject = try subject(of: claims.user)
        claims.transferID = try transferID(shownWith: claims.user)
        return try keys.token(try claims.json(issuedAt: now(), switches: switches))
    }

    /// The members every successful answer begins with, in Apple's order.
    func tokenMembers(accessToken: String) -> [JSON.Member] {
        [
            JSON.Member("access_token", .string(accessToken)),
            JSON.Member("token_type", "Bearer"),
            JSON.Member("expires_in", switches.accessTokenLifetime.json),
        ]
    }
}
