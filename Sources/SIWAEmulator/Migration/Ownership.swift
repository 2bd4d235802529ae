internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

// The owner of the clients. All clients are transferred at once, because an app is transferred with
// its websites.
extension Service {
    /// What a client_secret is for.
    enum Purpose {
        case signIn
        /// `client_credentials` and `/auth/usermigrationinfo`, which both teams use for 60 days.
        case migration
    }

    /// The team that owns the clients now.
    var owner: EmulatedTeam {
        acceptedAt == nil ? configuration.team : configuration.recipient ?? configuration.team
    }

    /// The teams whose secrets are accepted.
    func teams(for purpose: Purpose) -> [EmulatedTeam] {
        switch purpose {
        case .signIn: [owner]
        case .migration where acceptedAt == nil && behaviors.earlyRecipient == .invalidClient:
            [configuration.team]
        case .migration: configuration.teams
        }
    }

    /// The end of the migration; nil before the transfer.
    var migrationEnd: NumericDate? { acceptedAt.map { $0 + Self.migrationWindow } }

    private static let migrationWindow = Duration.seconds(60 * 86_400)

    /// The user's id with the owner; another team has another id.
    func subject(of user: EmulatedUser) throws(OpenSSLError) -> UserID {
        guard acceptedAt != nil else { return user.userID }
        return try user.userID(with: owner.teamID)
    }

    /// The `transfer_sub` in identity tokens, for 60 days, so that the new owner can recognise its
    /// users.
    func transferID(shownWith user: EmulatedUser) throws(OpenSSLError) -> TransferID? {
        guard let migrationEnd, now() < migrationEnd else { return nil }
        return try user.transferID(to: owner.teamID)
    }
}

extension EmulatedUser {
    /// `sub` with a team that got the client from another.
    func userID(with team: TeamID) throws(OpenSSLError) -> UserID {
        UserID(unchecked: try derived("sub", team))
    }

    /// `transfer_sub`: the same for every app and at every time.
    func transferID(to team: TeamID) throws(OpenSSLError) -> TransferID {
        TransferID(unchecked: try derived("transfer_sub", team))
    }

    private func derived(_ kind: String, _ team: TeamID) throws(OpenSSLError) -> String {
        IdentifierText.derived(from: try SHA256.digest("\(kind) \(team) \(userID)"))
    }
}
