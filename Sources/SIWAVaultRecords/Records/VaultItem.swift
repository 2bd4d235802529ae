package import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// One token to import into a vault: its user, and its earlier state.
package struct VaultItem: Sendable {
    /// The client and user that the token belongs to.
    package let user: VaultUser
    /// The refresh token, which is encrypted before it is stored.
    package let token: RefreshToken
    /// The state of the token.
    package let state: VaultState
    /// When it was stored.
    package let storedAt: NumericDate
    /// When the state last changed.
    package let changedAt: NumericDate
    /// When Apple last answered a refresh of it; nil if never.
    package let checkedAt: NumericDate?
    /// When Apple issued the identity token of the sign-in; nil if that is not known.
    package let signedInAt: NumericDate?

    /// Describes a token.
    package init(
        user: VaultUser, token: RefreshToken, state: VaultState = .active, storedAt: NumericDate,
        changedAt: NumericDate, checkedAt: NumericDate? = nil, signedInAt: NumericDate? = nil
    ) {
        (self.user, self.token, self.state) = (user, token, state)
        (self.storedAt, self.changedAt) = (storedAt, changedAt)
        (self.checkedAt, self.signedInAt) = (checkedAt, signedInAt)
    }

    /// Reads a JSON object `{"client_id"?, "user_id", "refresh_token", "state"?, "stored_at"?,
    /// "changed_at"?, "checked_at"?, "signed_in_at"?}`; other members are ignored. Times are RFC 3339,
    /// `YYYY-MM-DD hh:mm:ss` in UTC, or seconds since 1970.
    ///
    /// - Parameters:
    ///   - clientID: for a line without one.
    ///   - now: when the token was stored, unless the line says so.
    /// - Throws: ``InvalidLine``.
    package init(
        _ text: SecretBytes, clientID: ClientID?, now: NumericDate
    ) throws(InvalidLine) {
        let line = try ItemLine(text)
        guard line.object != nil else { throw InvalidLine(nil, "the line is not a JSON object") }
        guard let clientID = try line.clientID() ?? clientID else {
            throw InvalidLine(nil, missing: "client_id")
        }
        let user = try Self.user(of: clientID, line)
        let token = RefreshToken(try line.token(called: ["refresh_token", "token"]))
        let storedAt = try line.moment("stored_at") ?? now
        self.init(
            user: user, token: token, state: try Self.state(line), storedAt: storedAt,
            changedAt: try line.moment("changed_at") ?? storedAt,
            checkedAt: try line.moment("checked_at"),
            signedInAt: try line.moment("signed_in_at"))
    }

    private static func user(
        of clientID: ClientID, _ line: ItemLine
    ) throws(InvalidLine) -> VaultUser {
        guard let userID = try line.text("user_id") else {
            throw InvalidLine(nil, missing: "user_id")
        }
        // User ids are not encrypted.
        guard !looksLikeToken(userID) else {
            throw InvalidLine(nil, "'user_id' is a refresh token; two columns may be swapped")
        }
        do {
            return try VaultUser(clientID, validating: userID)
        } catch {
            throw InvalidLine(nil, "'user_id' \(error.fault)")
        }
    }

    private static func state(_ line: ItemLine) throws(InvalidLine) -> VaultState {
        guard let text = try line.text("state") else { return .active }
        guard let state = VaultState(rawValue: text) else {
            let names = VaultState.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidLine(nil, "'state' is not one of \(names)")
        }
        return state
    }
}
