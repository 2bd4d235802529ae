internal import SIWACrypto
internal import SIWALifecycle

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
        if let known = knownRelay(of: user, for: team) { return known }
        let relay = try user.relayName(for: team) + "@" + behaviors.relayDomain.rawValue
        ledger.relays[Ledger.Member(user.userID, team)] = relay
        return relay
    }
}

extension Service {
    /// The relay address by which the team knows the user; nil if it has none.
    func knownRelay(of user: EmulatedUser) -> String? { knownRelay(of: user, for: owner.teamID) }

    private func knownRelay(of user: EmulatedUser, for team: TeamID) -> String? {
        user.isPrivateEmail ? user.email : ledger.relays[Ledger.Member(user.userID, team)]
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
