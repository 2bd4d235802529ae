public import FoundationEssentials
internal import JOSE
internal import Lifecycle

/// A user who signed in: the tokens that Apple issued, and the verified claims.
public struct SignIn: Sendable {
    /// The tokens that Apple issued.
    public let tokens: SignInTokens
    /// The claims of the verified identity token.
    public let claims: IdentityClaims
    /// Whether the signature of the identity token was checked. False if Apple's public keys were
    /// unavailable: the token then came from Apple itself, over a connection that is authenticated
    /// by TLS, and all other checks passed.
    public let isSignatureChecked: Bool

    /// Identifies the user for all apps of the team. Use no other claim to identify users.
    public var userID: String { claims.userID }
    /// The refresh token, which works until the user or Apple revokes it. Store it, to revoke it
    /// when the account is deleted. Nil if Apple sent none.
    public var refreshToken: String? { tokens.refreshToken }
    /// Works for an hour, and only to revoke or to migrate.
    public var accessToken: String { tokens.accessToken }
}

/// The tokens of one response (Apple: `TokenResponse`).
public struct SignInTokens: Sendable {
    /// The refresh token, which works until the user or Apple revokes it; only an exchange returns
    /// one.
    public let refreshToken: String?
    /// Works for an hour, and only to revoke or to migrate.
    public let accessToken: String
    /// When the access token expires; nil if absent.
    public let accessTokenExpiresAt: Date?
    /// A JWT that identifies the user; nil if Apple sent none.
    public let identityToken: String?
    /// Apple's id of the request, for Apple's support; nil if absent.
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

/// The claims of a verified identity token (Apple: `id_token`).
public struct IdentityClaims: Sendable {
    /// Identifies the user for all apps of the team: `sub`. Use no other claim to identify users.
    public let userID: String
    /// The client the user signed in to: `aud`.
    public let clientID: String
    /// When the token was issued: `iat`.
    public let issuedAt: Date
    /// When it expires: `exp`.
    public let expiresAt: Date
    /// When the user last authenticated: `auth_time`; nil if absent.
    public let authenticatedAt: Date?
    /// The nonce of the sign-in request, raw or hashed; nil if it had none.
    public let nonce: String?
    /// The user's address or a relay address; nil if the app did not request it.
    public let email: String?
    /// Whether Apple has verified ``email``; nil if absent.
    public let isEmailVerified: Bool?
    /// Whether ``email`` is a relay address, which hides the user's own.
    public let isPrivateEmail: Bool
    /// Whether the user seems to be a real person: 0 unsupported, 1 unknown, 2 likely real; nil if
    /// absent (Apple: `real_user_status`).
    public let realUserStatus: Int?
    /// The transfer identifier, which can be exchanged for the new user id; nil except for sixty
    /// days after an app transfer.
    public let transferID: String?
    /// All claims as a JSON object, including those without a property here.
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
