internal import Lifecycle
internal import SIWACrypto

// The view that a client has of a user.
extension Service {
    /// The user as a client of `team` sees them.
    mutating func seen(
        _ user: EmulatedUser, _ sharing: EmailSharing, by team: TeamID
    ) throws(OpenSSLError) -> EmulatedUser {
        var seen = user
        switch sharing {
        case .shared: break
        case .withheld: seen.email = nil
        case .hidden:
            guard user.email != nil else { break }
            seen.email = try relay(of: user, for: team)
            seen.isEmailVerified = true
            seen.isPrivateEmail = true
        }
        return seen
    }

    /// The relay address of the user for one team. It never changes, even if new ones get another
    /// domain.
    mutating func relay(
        of user: EmulatedUser, for team: TeamID
    ) throws(OpenSSLError) -> String {
        if user.isPrivateEmail, let email = user.email { return email }
        if let known = ledger.relays[Ledger.Member(user.userID, team)] { return known }
        let relay = try user.relayName(for: team) + "@" + behaviors.relayDomain.rawValue
        ledger.relays[Ledger.Member(user.userID, team)] = relay
        return relay
    }
}

extension EmulatedUser {
    /// Ten lowercase letters and digits, as recorded.
    fileprivate func relayName(for team: TeamID) throws(OpenSSLError) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        let digest = try SHA256.digest("\(team) \(userID)")
        return String(digest.prefix(10).map { letters[Int($0) % letters.count] })
    }
}
