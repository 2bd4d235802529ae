internal import SIWAJOSE

/// How Apple behaves where recordings disagree or are silent: the `switches` of `emulator.json`.
/// The defaults are the recorded or the strictest behavior.
///
/// docs/emulator.md describes every value, a row for each switch.
package struct Behaviors: Sendable, Hashable {
    var order = Order.credentialFirst
    var audienceArray = Tolerance.accepted
    var fractionalTimes = Tolerance.accepted
    var missingIssuedAt = Tolerance.refused
    var clockSkewTolerance = Duration.seconds(5)
    var secretClock = SecretClock.moved
    var missingSecret = Refusal.Code.invalidClient
    var missingGrantType = Refusal.Code.invalidRequest
    var missingCode = Refusal.Code.invalidRequest
    var unknownGrant = Refusal.Code.unsupportedGrantType
    var repeatedParameter = Tolerance.refused
    var missingUserAgent = Tolerance.accepted
    var headRequests = Tolerance.accepted
    var wrongMethod = WrongMethod.page
    var redirectMismatch = Refusal.Code.invalidGrant
    var acceptsSpareRedirect = false
    var mismatchDescribesRedirect = true
    var mismatchFullStop = true
    var pkceFailure = Refusal.Code.invalidGrant
    var codeLifetime = Duration.seconds(300)
    var accessTokenLifetime = Duration.seconds(3600)
    var refreshTokenLifetime = Duration.zero
    var idTokenLifetime = Duration.seconds(86_400)
    var tokenIssuer = Issuer.appleID
    var emailClaims = EmailClaims.boolean
    var relayDomain = RelayDomain.privaterelay
    var refreshIDToken = true
    var refreshNonce = false
    var refreshAuthTime = RefreshAuthTime.signIn
    var refreshRealUserStatus = false
    var refreshAfterRevoke = Refusal.Code.invalidGrant
    var revokeContentType = RevokeContentType.none
    var revokeMissingToken = RevokeMissingToken.invalidRequest
    var revokeTakesCode = false
    var revokeChecksHint = false
    var revokeChecksClient = false
    var revokeScope = RevokeScope.session
    var unregisteredRedirect = Refusal.Code.invalidRequest
    var authorizeTexts = AuthorizeTexts.recent
    var authorizeRefusal = AuthorizeRefusal.page
    var unknownScope = UnknownScope.invalidScope
    var scopePlus = Tolerance.accepted
    var webMessage = Tolerance.accepted
    var discoveryIssuer = Issuer.appleID
    var keysMaxAge = Duration.zero
    var keysNoStore = false
    var laterEmail = LaterEmail.withheld
    var notificationEvents = NotificationEvents.string
    var notificationTime = NotificationTime.milliseconds
    var notificationPrivateEmail = EmailClaims.string
    var notificationDelivery = NotificationDelivery.once
    var teamToken = TeamToken.always
    var migrationNeedsSignIn = false
    var earlyRecipient = Refusal.Code.invalidRequest
    var transferredTokens = Tolerance.accepted
    /// Unlike Apple: accepts a website on this machine, for trying it.
    var allowsLoopbackRedirect = false

    /// Every switch at its default.
    package init() {}
}

extension Behaviors {
    /// Whether a doubtful request is accepted.
    enum Tolerance: String, CaseIterable, JSONConvertible {
        case accepted
        case refused
    }

    /// What is examined first: the code or token, or the client_secret.
    enum Order: String, CaseIterable, JSONConvertible {
        /// Unknown codes and tokens are refused before the client_secret is examined, as observed
        /// since the winter of 2022/23.
        case credentialFirst = "credential_first"
        /// The same, but only for texts that do not look like anything Apple issues: the
        /// observation proves no more.
        case malformedFirst = "malformed_first"
        /// The same also for used, expired and foreign codes.
        case grantFirst = "grant_first"
        /// The order of RFC 6749, and of Apple until June 2022.
        case clientFirst = "client_first"
    }

    /// The clock by which a client_secret is examined.
    enum SecretClock: String, CaseIterable, JSONConvertible {
        /// The emulator's clock, which a control request moves.
        case moved
        /// The machine's clock.
        case real
    }

    /// The answer to a wrong method.
    enum WrongMethod: String, CaseIterable, JSONConvertible {
        /// The page of Apple's edge.
        case page = "405"
        case invalidRequest = "invalid_request"
    }

    /// How the two email claims are written.
    enum EmailClaims: String, CaseIterable, JSONConvertible {
        case boolean
        /// `"true"`, as before February 2024.
        case string
    }

    /// The domain of new relay addresses.
    enum RelayDomain: String, CaseIterable, JSONConvertible {
        case privaterelay = "privaterelay.appleid.com"
        /// Announced for late 2026.
        case icloud = "private.icloud.com"
    }

    /// `auth_time` of a refreshed identity token.
    enum RefreshAuthTime: String, CaseIterable, JSONConvertible {
        case signIn = "sign_in"
        case refresh
        case absent
    }

    /// The content type of the empty answer of `/auth/revoke`.
    enum RevokeContentType: String, CaseIterable, JSONConvertible {
        case none
        /// As in Apple's documentation.
        case json = "application/json"
    }

    /// The answer to a revocation without a token.
    enum RevokeMissingToken: String, CaseIterable, JSONConvertible {
        case invalidRequest = "invalid_request"
        /// 200, like everything else.
        case ignored
    }

    /// Which sessions one revocation ends.
    enum RevokeScope: String, CaseIterable, JSONConvertible {
        /// The session of the token: what one code was exchanged for.
        case session
        /// Every session of the user with the client.
        case user
        /// Every session of the user with the team's apps and websites.
        case group
    }

    /// The sentences of the page that refuses a sign-in. Sources disagree which cause has which.
    enum AuthorizeTexts: String, CaseIterable, JSONConvertible {
        /// As in ten public files of 2024 to 2026.
        case recent
        /// As recorded last in October 2023.
        case until2023 = "until_2023"

        /// For a redirect URI that is not the client's, and for an App ID in place of a Services ID.
        var invalidRedirect: String {
            self == .recent ? "Invalid client id or web redirect url." : "Invalid web redirect url"
        }

        /// For a client that does not exist.
        var invalidClient: String? { self == .recent ? "Invalid client." : nil }
    }

    /// How a sign-in is refused.
    enum AuthorizeRefusal: String, CaseIterable, JSONConvertible {
        /// A page with status 400.
        case page = "400"
        /// A page with status 200, the error inside as JSON: the mock of one validator expects it.
        case embedded = "200"
    }

    /// How an unknown scope is answered.
    enum UnknownScope: String, CaseIterable, JSONConvertible {
        case invalidScope = "invalid_scope"
        case invalidRequest = "invalid_request"
        case ignored
    }

    /// The address of a user whose first consent was not about it, when a later request asks for it.
    enum LaterEmail: String, CaseIterable, JSONConvertible {
        /// The first consent decides.
        case withheld
        /// The user is asked as at a first consent.
        case asked
    }

    /// `iss` of a token or a discovery document; the document's changed for some days in June 2025.
    enum Issuer: String, CaseIterable, JSONConvertible {
        case appleID = "https://appleid.apple.com"
        case account = "https://account.apple.com"
    }

    /// How a notification carries its event.
    enum NotificationEvents: String, CaseIterable, JSONConvertible {
        /// JSON in a string, as in signed tokens.
        case string
        /// As in Apple's documentation.
        case object
    }

    /// The unit of a notification's `event_time`.
    enum NotificationTime: String, CaseIterable, JSONConvertible {
        /// As in signed tokens.
        case milliseconds
        /// As in Apple's documentation.
        case seconds
    }

    /// How often a notification arrives.
    enum NotificationDelivery: String, CaseIterable, JSONConvertible {
        case once
        /// With the same `jti`.
        case twice
        case never
    }

    /// When a team gets a token for user migration.
    enum TeamToken: String, CaseIterable, JSONConvertible {
        case always
        /// For 60 days from the acceptance of a transfer; otherwise it is `unauthorized_client`.
        case inWindow = "in_window"
    }
}
