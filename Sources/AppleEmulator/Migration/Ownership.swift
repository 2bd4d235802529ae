internal import JOSE
internal import Lifecycle
internal import SIWACrypto

// Whose the clients are: all of them are transferred at once, as an app goes with its websites.
extension Service {
    /// What a client_secret is for.
    enum Purpose {
        case signIn
        /// `client_credentials` and `/auth/usermigrationinfo`, which both teams use for 60 days.
        case migration
    }

    /// The team whose clients they are now.
    var owner: EmulatedTeam {
        acceptedAt == nil ? configuration.team : configuration.recipient ?? configuration.team
    }

    /// Whose secrets are taken.
    func teams(for purpose: Purpose) -> [EmulatedTeam] {
        switch purpose {
        case .signIn: [owner]
        case .migration where acceptedAt == nil && behaviors.earlyRecipient == .invalidClient:
            [configuration.team]
        case .migration: configuration.teams
        }
    }

    /// When both halves of the migration stop; nil before the transfer.
    var migrationEnd: NumericDate? { acceptedAt.map { $0 + Self.migrationWindow } }

    private static let migrationWindow = Duration.seconds(60 * 86_400)

    /// What the owner calls a user: another team has another name for them.
    func subject(of user: EmulatedUser) throws(OpenSSLError) -> UserID {
        guard acceptedAt != nil else { return user.userID }
        return try user.userID(with: owner.teamID)
    }

    /// What identity tokens show for 60 days, so that the new owner recognises its users.
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

    /// `transfer_sub`: the same for every app and whenever it is asked for.
    func transferID(to team: TeamID) throws(OpenSSLError) -> TransferID {
        TransferID(unchecked: try derived("transfer_sub", team))
    }

    private func derived(_ kind: String, _ team: TeamID) throws(OpenSSLError) -> String {
        IdentifierText.derived(from: try SHA256.digest("\(kind) \(team) \(userID)"))
    }
}
