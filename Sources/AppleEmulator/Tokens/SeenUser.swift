internal import SIWACrypto
internal import SignInWithApple

extension EmulatedUser {
    /// The user as a client of `team` gets to see them.
    func seen(
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
    func relay(for team: TeamID) throws(OpenSSLError) -> String {
        if isPrivateEmail, let email { return email }
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        let digest = try SHA256.digest("\(team) \(userID)")
        let name = String(digest.prefix(10).map { letters[Int($0) % letters.count] })
        return name + "@privaterelay.appleid.com"
    }
}
