package import JOSE

/// What an identity token says of a user (Apple: `id_token`), once it is verified.
package struct IdentityTokenClaims: Hashable, Sendable {
    /// The user: stable for all apps of a team. The only claim that identifies a user.
    package var userID: UserID { UserID(unchecked: text["sub"]?.string ?? "") }
    /// The client the user signed in to: `aud`.
    package var clientID: ClientID { ClientID(unchecked: text["aud"]?.string ?? "") }
    /// The issuer: `iss`.
    package var issuer: String { text["iss"]?.string ?? "" }
    /// When the token was made.
    package let issuedAt: NumericDate
    /// When it expires.
    package let expiresAt: NumericDate
    /// When the user last proved who they are; nil where Apple does not say.
    package var authenticatedAt: NumericDate? { text["auth_time"]?.moment }
    /// As the sign-in request had it, raw or hashed.
    package var nonce: String? { text["nonce"]?.string }
    /// The user's address, or a relay's; nil when the app never asked for it, and for some
    /// managed accounts.
    package var email: String? { text["email"]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    /// Whether Apple has verified ``email``; nil where Apple does not say.
    package var isEmailVerified: Bool? { text["email_verified"]?.flag }
    /// Whether ``email`` is a relay's: Apple leaves the claim out where it is not.
    package var isPrivateEmail: Bool { text["is_private_email"]?.flag ?? false }
    /// Whether a person is behind it; only in apps, and normally at the first sign-in only.
    package var realUserStatus: RealUserStatus? {
        text["real_user_status"]?.json.integer.map { RealUserStatus(rawValue: $0) }
    }
    /// For sixty days after an app changed teams: what to exchange for the new ``userID``.
    package var transferID: TransferID? {
        text["transfer_sub"]?.string.map { TransferID(unchecked: $0) }
    }
    /// Every claim as received, unknown ones included.
    package var json: JSON { text.value }
    private let text: JSONText

    /// Nil when a claim that every token has is missing, or of another type.
    init?(_ text: JSONText) {
        // No text is made of what is only compared: few of a batch's tokens are asked for their claims.
        guard text["sub"]?.isFilledString == true, text["aud"]?.isString == true,
            text["iss"]?.isString == true,
            let issuedAt = text["iat"]?.moment, let expiresAt = text["exp"]?.moment
        else { return nil }
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.text = text
    }
}
