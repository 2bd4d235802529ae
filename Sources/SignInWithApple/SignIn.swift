public import FoundationEssentials
internal import SIWAJOSE
internal import SIWALifecycle

/// A user who signed in: the tokens that Apple issued, and the verified claims.
public struct SignIn: Hashable, Sendable {
    /// The tokens that Apple issued.
    public let tokens: SignInTokens
    /// The claims of the verified identity token.
    public let claims: IdentityClaims
    /// Whether the signature of the identity token was checked. False if Apple's public keys were
    /// unavailable: the token then came from Apple itself, over a connection that is authenticated
    /// by TLS, and all other checks passed.
    public let isSignatureChecked: Bool

    /// Creates a sign-in, for tests.
    public init(tokens: SignInTokens, claims: IdentityClaims, isSignatureChecked: Bool = true) {
        (self.tokens, self.claims) = (tokens, claims)
        self.isSignatureChecked = isSignatureChecked
    }

    /// Identifies the user for all apps of the team. Use no other claim to identify users.
    public var userID: String { claims.userID }
    /// The refresh token, which works until the user or Apple revokes it. Store it, to revoke it
    /// when the account is deleted. Nil if Apple sent none.
    public var refreshToken: String? { tokens.refreshToken }
    /// Works for an hour, and only to revoke or to migrate.
    public var accessToken: String { tokens.accessToken }
}

/// The tokens of one response (Apple: `TokenResponse`). It is not `Codable`, so that no token slips
/// into a response or a log by accident.
public struct SignInTokens: Hashable, Sendable {
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

    /// Creates tokens, for tests.
    public init(
        refreshToken: String? = nil, accessToken: String, accessTokenExpiresAt: Date? = nil,
        identityToken: String? = nil, requestID: String? = nil
    ) {
        (self.refreshToken, self.accessToken) = (refreshToken, accessToken)
        self.accessTokenExpiresAt = accessTokenExpiresAt
        (self.identityToken, self.requestID) = (identityToken, requestID)
    }

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
public struct IdentityClaims: Hashable, Codable, Sendable {
    /// Identifies the user for all apps of the team: `sub`. Use no other claim to identify users.
    public let userID: String
    /// The client the user signed in to: `aud`.
    public let clientID: String
    /// When the token was issued: `iat`.
    public let issuedAt: Date
    /// When it expires: `exp`.
    public let expiresAt: Date
    /// When the user last authenticated: `auth_time`; nil if absent.
    public var authenticatedAt: Date?
    /// The nonce of the sign-in request, raw or hashed; nil if it had none.
    public var nonce: String?
    /// Whether the device supports nonces: `nonce_supported`; nil if absent. A token with true must
    /// have the nonce of the request.
    public var isNonceSupported: Bool?
    /// The user's address or a relay address; nil if the app did not request it.
    public var email: String?
    /// Whether Apple has verified ``email``; nil if absent.
    public var isEmailVerified: Bool?
    /// Whether ``email`` is a relay address, which hides the user's own.
    public var isPrivateEmail = false
    /// Whether the user seems to be a real person; nil if absent.
    public var realUserStatus: RealUserStatus?
    /// The organization of a managed Apple Account: `org_id`; nil if absent.
    public var organizationID: String?
    /// The transfer identifier, which can be exchanged for the new user id; nil except for sixty
    /// days after an app transfer.
    public var transferID: String?
    /// All claims as a JSON object, including those without a property here; see
    /// ``decode(_:)``.
    public var json = "{}"

    /// Creates claims, for tests.
    public init(userID: String, clientID: String, issuedAt: Date, expiresAt: Date) {
        (self.userID, self.clientID) = (userID, clientID)
        (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt)
    }

    init(_ claims: IdentityTokenClaims) {
        self.init(
            userID: claims.userID.rawValue, clientID: claims.clientID.rawValue,
            issuedAt: claims.issuedAt.date, expiresAt: claims.expiresAt.date)
        authenticatedAt = claims.authenticatedAt?.date
        (nonce, isNonceSupported) = (claims.nonce, claims.isNonceSupported)
        (email, isEmailVerified) = (claims.email, claims.isEmailVerified)
        isPrivateEmail = claims.isPrivateEmail
        realUserStatus = claims.realUserStatus.map { RealUserStatus(rawValue: $0.rawValue) }
        organizationID = claims.organizationID
        transferID = claims.transferID?.rawValue
        json = claims.received
    }

    /// Decodes claims of one's own from the verified token, which was read strictly before: a claim
    /// that occurs twice is refused.
    ///
    /// ```swift
    /// struct Managed: Decodable { let org_id: String }
    /// let managed = try claims.decode(Managed.self)
    /// ```
    ///
    /// - Throws: `DecodingError`.
    public func decode<Claims: Decodable>(_ type: Claims.Type) throws -> Claims {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }
}

/// Whether the user seems to be a real person (Apple: `real_user_status`, `ASUserDetectionStatus`).
///
/// An open set, because Apple may add numbers.
public struct RealUserStatus: RawRepresentable, Hashable, Codable, Sendable {
    /// Apple's number.
    public let rawValue: Int

    /// Creates a status from any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The device cannot tell.
    public static let unsupported = Self(rawValue: 0)
    /// Not determined: treat the user like any new user.
    public static let unknown = Self(rawValue: 1)
    /// Probably a person.
    public static let likelyReal = Self(rawValue: 2)
}
