internal import SIWACrypto
internal import SIWALifecycle

/// The result of a sign-in.
struct Admission {
    let code: String
    let idToken: String
    /// The user as the client sees them.
    let user: EmulatedUser
    /// Whether this is the user's first sign-in with the client.
    let isFirst: Bool
}

extension Service {
    /// Signs a user in; returns the code and the identity token that an app or a page receives.
    mutating func signIn(_ signIn: EmulatedSignIn) throws -> Admission {
        let now = now()
        let clientID = signIn.client.clientID
        let code = TokenText.new(
            .code, shard: try TokenText.shard(of: signIn.user.userID), using: &random.codes)
        let (sharing, isFirst) = ledger.consents.settle(
            signIn.user.userID, clientID, choosing: signIn.sharing, behaviors.laterEmail)
        let user = try seen(signIn.user, sharing, by: owner.teamID)
        ledger.record(
            Ledger.Code(
                clientID: clientID, user: user, nonce: signIn.nonce,
                redirectURI: signIn.redirectURI, challenge: signIn.challenge, issuedAt: now),
            as: code)
        let isJudged = isFirst && signIn.client.kind == .app
        let idToken = try identityToken(
            IssuedClaims(
                clientID: clientID, user: user, companion: .code(code), nonce: signIn.nonce,
                signedInAt: now, realUserStatus: isJudged ? user.realUserStatus : nil))
        return Admission(code: code, idToken: idToken, user: user, isFirst: isFirst)
    }
}
