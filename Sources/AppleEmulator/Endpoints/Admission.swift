internal import Lifecycle
internal import SIWACrypto

/// What comes of a sign-in.
struct Admission {
    let code: String
    let idToken: String
    /// The user as the client gets to see them.
    let user: EmulatedUser
    /// Whether the client meets the user for the first time.
    let isFirst: Bool
}

extension Service {
    /// Signs a user in: the code and the identity token that an app or a page gets.
    mutating func signIn(_ signIn: SignIn) throws -> Admission {
        let now = now()
        let clientID = signIn.client.clientID
        let code = TokenText.fresh(.code, shard: try TokenText.shard(of: signIn.user.userID))
        let (sharing, isFirst) = ledger.consents.settle(
            signIn.user.userID, clientID, choosing: signIn.sharing)
        let user = try seen(signIn.user, sharing, by: owner.teamID)
        ledger.record(
            Ledger.Code(
                clientID: clientID, user: user, nonce: signIn.nonce,
                redirectURI: signIn.redirectURI, challenge: signIn.challenge, issuedAt: now),
            as: code)
        let isJudged = isFirst && signIn.client.kind == .app
        let idToken = try identityToken(
            IdentityTokenClaims(
                clientID: clientID, user: user, companion: .code(code), nonce: signIn.nonce,
                signedInAt: now, realUserStatus: isJudged ? user.realUserStatus : nil))
        return Admission(code: code, idToken: idToken, user: user, isFirst: isFirst)
    }
}
