public import FoundationEssentials
internal import JOSE
internal import Lifecycle

/// A user who signed in: what Apple issued, and who it says they are.
public struct SignIn: Sendable {
    /// What Apple issued.
    public let tokens: SignInTokens
    /// What the identity token says, verified.
    public let claims: IdentityClaims

    /// Names the user for all apps of the team. The only claim to recognise a user by.
    public var userID: String { claims.userID }
    /// Works until the user or Apple ends it: store it, to revoke it when the account is deleted.
    /// Nil if Apple sent none.
    public var refreshToken: String? { tokens.refreshToken }
    /// Works for an hour, and only to revoke or to migrate.
    public var accessToken: String { tokens.accessToken }
}

/// The tokens of one response (Apple: `TokenResponse`).
public struct SignInTokens: Sendable {
    /// Works until the user or Apple ends it; only an exchange brings one.
    public let refreshToken: String?
    /// Works for an hour, and only to revoke or to migrate.
    public let accessToken: String
    /// When the access token expires; nil if Apple does not say.
    public let accessTokenExpiresAt: Date?
    /// A JWT that says who signed in; nil if Apple sent none.
    public let identityToken: String?
    /// Apple's id of the request, which its support asks for; nil if it sent none.
    public let requestID: String?

    init(_ response: TokenResponse, at now: NumericDate) {
        refreshToken = response.refreshToken?.text.revealed()
        accessToken = response.accessToken.text.revealed()
        accessTokenExpiresAt = response.expiresIn.map { (now + .seconds($0)).date }
        identityToken = response.identityToken?.revealed()
        requestID = response.requestID
    }
}

extension SignInTokens: CustomStringConvertible, CustomReflectable {
    /// The request's id, never a token.
    public var description: String { "tokens of request \(requestID ?? "without an id")" }

    /// Keeps `dump` and `print` from showing the tokens.
    public var customMirror: Mirror { Mirror(self, children: ["requestID": requestID as Any]) }
}

/// What a verified identity token says (Apple: `id_token`).
public struct IdentityClaims: Sendable {
    /// Names the user for all apps of the team: `sub`. The only claim to recognise a user by.
    public let userID: String
    /// The client the user signed in to: `aud`.
    public let clientID: String
    /// When the token was issued: `iat`.
    public let issuedAt: Date
    /// When it expires: `exp`.
    public let expiresAt: Date
    /// When the user last proved who they are: `auth_time`; nil if Apple does not say.
    public let authenticatedAt: Date?
    /// The nonce of the sign-in request, raw or hashed; nil if it had none.
    public let nonce: String?
    /// The user's address or a relay's; nil if the app did not ask for it.
    public let email: String?
    /// Whether Apple has verified ``email``; nil if Apple does not say.
    public let isEmailVerified: Bool?
    /// Whether ``email`` is a relay's, which hides the user's own.
    public let isPrivateEmail: Bool
    /// Whether Apple thinks that a person signed in: 0 unsupported, 1 unknown, 2 likely real; nil
    /// if Apple does not say (Apple: `real_user_status`).
    public let realUserStatus: Int?
    /// What to exchange for the new user id, for sixty days after the app changed teams; else nil.
    public let transferID: String?
    /// All claims as a JSON object, also those that have no property here.
    public let json: String

    init(_ claims: IdentityTokenClaims) {
        userID = claims.userID.rawValue
        clientID = claims.clientID.rawValue
        (issuedAt, expiresAt) = (claims.issuedAt.date, claims.expiresAt.date)
        authenticatedAt = claims.authenticatedAt?.date
        nonce = claims.nonce
        (email, isEmailVerified) = (claims.email, claims.isEmailVerified)
        isPrivateEmail = claims.isPrivateEmail
        realUserStatus = claims.realUserStatus?.rawValue
        transferID = claims.transferID?.rawValue
        json = claims.json.text
    }
}
