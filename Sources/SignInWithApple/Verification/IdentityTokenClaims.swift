/// What an identity token says of a user (Apple: `id_token`), once it is verified.
public struct IdentityTokenClaims: Hashable, Sendable {
    /// The user: stable for all apps of a team. The only claim to know somebody by.
    public let userID: UserID
    /// The client the user signed in to: `aud`.
    public let clientID: ClientID
    /// Who says so: `iss`.
    public let issuer: String
    /// When the token was made.
    public let issuedAt: NumericDate
    /// When it stops to count.
    public let expiresAt: NumericDate
    /// When the user last proved who they are; nil where Apple does not say.
    public let authenticatedAt: NumericDate?
    /// As the sign-in request had it, raw or hashed.
    public let nonce: String?
    /// The user's address, or a relay's; nil when the app never asked for it, and for some
    /// managed accounts.
    public let email: String?
    /// Whether Apple has verified ``email``; nil where Apple does not say.
    public let isEmailVerified: Bool?
    /// Whether ``email`` is a relay's: Apple leaves the claim out where it is not.
    public let isPrivateEmail: Bool
    /// Whether a person is behind it; only in apps, and normally at the first sign-in only.
    public let realUserStatus: RealUserStatus?
    /// For sixty days after an app changed teams: what to exchange for the new ``userID``.
    public let transferID: TransferID?
    /// Every claim as it came, unknown ones included.
    public let json: JSON

    /// Nil when a claim that every token has is missing, or of another type.
    init?(_ json: JSON) {
        guard let userID = json["sub"]?.string, !userID.isEmpty,
            let clientID = json["aud"]?.string, let issuer = json["iss"]?.string,
            let issuedAt = json["iat"]?.moment, let expiresAt = json["exp"]?.moment
        else { return nil }
        self.userID = UserID(unchecked: userID)
        self.clientID = ClientID(unchecked: clientID)
        self.issuer = issuer
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        authenticatedAt = json["auth_time"]?.moment
        nonce = json["nonce"]?.string
        email = json["email"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        isEmailVerified = json["email_verified"]?.flag
        isPrivateEmail = json["is_private_email"]?.flag ?? false
        realUserStatus = json["real_user_status"]?.integer.map { RealUserStatus(rawValue: $0) }
        transferID = json["transfer_sub"]?.string.map { TransferID(unchecked: $0) }
        self.json = json
    }
}
