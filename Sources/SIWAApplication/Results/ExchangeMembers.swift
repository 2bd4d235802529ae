package import SIWAJOSE
package import SIWALifecycle

extension TokenResponse {
    /// The members of an exchange's result before `stored`: Apple's response, the user, and the
    /// checks of the identity token. They replace members of the response with these names.
    ///
    /// - Parameter verification: that of the identity token; nil without one.
    package func exchangeMembers(
        _ verification: IdentityTokenVerification?, at now: NumericDate
    ) -> [JSON.Member] {
        let userID = verification?.claims?.userID
        return members(at: now, reserving: ["user_id", "checks", "stored"])
            + (userID.map { [.init("user_id", .string($0.rawValue))] } ?? [])
            + [.init("checks", .array(verification?.checks.map(\.json) ?? []))]
    }

    /// The members of a stored token's refresh before `other_clients`. The user is that of the
    /// vault, even if the response has a member of that name.
    package func refreshMembers(of userID: UserID, at now: NumericDate) -> [JSON.Member] {
        members(at: now, reserving: ["user_id", "other_clients"])
            + [.init("user_id", .string(userID.rawValue))]
    }
}
