internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// All users and all ids that a transfer can give them; computed once, because there may be very
/// many.
struct Transferees {
    /// The user of a transfer identifier.
    struct Transferee {
        let user: EmulatedUser
        /// The team it was made for: only this team can use it.
        let target: TeamID
    }

    private var users: [String: EmulatedUser] = [:]
    private var transferees: [String: Transferee] = [:]

    /// An identifier can be made for any team, even for the user's own team, where it is useless.
    init(_ directory: UserDirectory, _ teams: [EmulatedTeam]) throws(OpenSSLError) {
        for user in directory.users {
            users[user.userID.rawValue] = user
            for team in teams {
                let name = try user.transferID(to: team.teamID).rawValue
                transferees[name] = Transferee(user: user, target: team.teamID)
            }
        }
    }

    func user(_ userID: String) -> EmulatedUser? {
        users[userID].flatMap { $0.userID.rawValue.isExactly(userID) ? $0 : nil }
    }

    /// Compares bytes: for Swift's ==, a Kelvin sign equals a K.
    subscript(transferID: String) -> Transferee? {
        transferID.utf8.allSatisfy { $0 < 0x80 } ? transferees[transferID] : nil
    }
}
