package import JOSE
package import Lifecycle

extension TokenResponse {
    /// The members of an exchange's result before `stored`: Apple's response, and the user.
    ///
    /// - Parameter userID: the verified user: `user_id`, even if the response has a member of that
    ///   name.
    package func exchangeMembers(of userID: UserID?, at now: NumericDate) -> [JSON.Member] {
        members(at: now, reserving: ["user_id", "stored"])
            + (userID.map { [.init("user_id", .string($0.rawValue))] } ?? [])
    }

    /// The members of a stored token's refresh before `other_clients`. The user is that of the
    /// vault, even if the response has a member of that name.
    package func refreshMembers(of userID: UserID, at now: NumericDate) -> [JSON.Member] {
        members(at: now, reserving: ["user_id", "other_clients"])
            + [.init("user_id", .string(userID.rawValue))]
    }
}
