package import JOSE
package import Lifecycle

extension TokenResponse {
    /// What the result of an exchange says before `stored`: Apple's response, and the user.
    ///
    /// - Parameter userID: the verified user: `user_id`, even if the response has a member of that
    ///   name.
    package func exchangeMembers(of userID: UserID?, at now: NumericDate) -> [JSON.Member] {
        members(at: now, reserving: ["user_id", "stored"])
            + (userID.map { [.init("user_id", .string($0.rawValue))] } ?? [])
    }

    /// What the result of the refresh of a stored token says before `other_clients`. Only the vault
    /// names the user, whatever the response calls its members.
    package func refreshMembers(of userID: UserID, at now: NumericDate) -> [JSON.Member] {
        members(at: now, reserving: ["user_id", "other_clients"])
            + [.init("user_id", .string(userID.rawValue))]
    }
}
