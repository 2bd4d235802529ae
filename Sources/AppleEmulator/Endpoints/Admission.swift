internal import SIWACrypto
internal import SignInWithApple

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
        let user = try signIn.user.seen(sharing, by: configuration.teamID)
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

extension EmulatedUser {
    /// The user as a client of `team` gets to see them.
    fileprivate func seen(
        _ sharing: EmailSharing, by team: TeamID
    ) throws(OpenSSLError) -> EmulatedUser {
        var user = self
        switch sharing {
        case .shared: break
        case .withheld: user.email = nil
        case .hidden:
            guard email != nil else { break }
            user.email = try relay(for: team)
            user.isEmailVerified = true
            user.isPrivateEmail = true
        }
        return user
    }

    /// The address that hides the user's own from one team, always the same:
    /// `<10 lowercase alphanumerics>@privaterelay.appleid.com`.
    private func relay(for team: TeamID) throws(OpenSSLError) -> String {
        if isPrivateEmail, let email { return email }
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        let digest = try SHA256.digest("\(team) \(userID)")
        let name = String(digest.prefix(10).map { letters[Int($0) % letters.count] })
        return name + "@privaterelay.appleid.com"
    }
}
