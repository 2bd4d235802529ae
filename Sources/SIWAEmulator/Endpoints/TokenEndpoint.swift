internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

// POST /auth/token: three grants.
extension Service {
    mutating func token(_ form: ReceivedForm) throws -> Answer {
        try refuseRepetition(in: form)
        let grant = try form.required("grant_type", or: behaviors.missingGrantType)
        let isOffered = ["authorization_code", "refresh_token", "client_credentials"]
            .contains(where: grant.isExactly)
        guard isOffered else {
            throw Refusal(
                behaviors.unknownGrant, in: "grant_type",
                because: "'\(grant.clipped)' is not offered")
        }
        examination.passed("grant_type", grant)
        switch grant {
        case "authorization_code": return try exchange(form)
        case "refresh_token": return try refresh(form)
        default: return try issueTeamToken(form)
        }
    }

    /// Issues an access token for a session.
    ///
    /// - Parameter given: the token; nil for a new one.
    mutating func issueAccessToken(
        of session: Ledger.SessionID, shard: String, as given: String? = nil
    ) -> String {
        let text = given ?? TokenText.new(.access, shard: shard, using: &random.tokens)
        ledger.record(
            accessToken: text, of: session, at: now(), lifetime: behaviors.accessTokenLifetime)
        return text
    }

    /// Signs the claims of an identity token.
    ///
    /// - Parameter alteration: what is wrong with it on purpose.
    func identityToken(
        _ claims: IssuedClaims, altered alteration: TokenAlteration? = nil
    ) throws(OpenSSLError) -> String {
        let claims = try json(claims)
        guard let alteration else { return try keys.token(claims) }
        return try keys.token(claims, altered: alteration)
    }

    /// The claims of an identity token that is issued now.
    func json(_ claims: IssuedClaims) throws(OpenSSLError) -> JSON {
        var claims = claims
        claims.issuer = behaviors.tokenIssuer.rawValue
        claims.subject = try subject(of: claims.user)
        claims.transferID = try transferID(shownWith: claims.user)
        return try claims.json(issuedAt: now(), behaviors: behaviors)
    }

    /// The members at the beginning of every successful answer, in Apple's order.
    func tokenMembers(accessToken: String) -> [JSON.Member] {
        [
            JSON.Member("access_token", .string(accessToken)),
            JSON.Member("token_type", "Bearer"),
            JSON.Member("expires_in", behaviors.accessTokenLifetime.json),
        ]
    }
}
