/// How Apple behaves where recordings disagree or are silent. The defaults are the
/// recorded or the most cautious behaviour; a good client works with every setting.
public struct Switches: Sendable, Hashable {
    /// Which is looked at first: the code or token, or the client_secret.
    enum Order: String, CaseIterable, Shaped {
        /// As observed since the winter of 2022/23.
        case credentialFirst = "credential_first"
        /// As RFC 6749 has it, and Apple until June 2022.
        case clientFirst = "client_first"
    }

    /// What becomes of a client_secret whose `aud` is an array of one element.
    enum AudienceArray: String, CaseIterable, Shaped {
        /// As golang-jwt and others write it in production.
        case accepted
        case refused
    }

    /// The error for a redirect_uri other than the sign-in's.
    enum RedirectError: String, CaseIterable, Shaped {
        case invalidGrant = "invalid_grant"
        case invalidClient = "invalid_client"
    }

    /// The error for a refresh token that was revoked.
    enum RevokedError: String, CaseIterable, Shaped {
        case invalidGrant = "invalid_grant"
        case invalidRequest = "invalid_request"
    }

    /// What one revocation ends.
    enum RevokeScope: String, CaseIterable, Shaped {
        /// The session of the token: what one code was exchanged for.
        case session
        /// Every session of the user with the client.
        case user
    }

    /// How the two email claims are written.
    enum EmailClaims: String, CaseIterable, Shaped {
        case boolean
        /// `"true"`, as before February 2024.
        case string
    }

    /// Whose discovery document this is; Apple's changed for some days in June 2025.
    enum DiscoveryIssuer: String, CaseIterable, Shaped {
        case appleID = "https://appleid.apple.com"
        case account = "https://account.apple.com"
    }

    /// How a notification carries its event.
    enum NotificationEvents: String, CaseIterable, Shaped {
        /// JSON in a string, as signed tokens have it.
        case string
        /// As Apple's pages have it.
        case object
    }

    /// The unit of a notification's `event_time`.
    enum NotificationTime: String, CaseIterable, Shaped {
        /// As signed tokens have it.
        case milliseconds
        /// As Apple's pages have it.
        case seconds
    }

    /// How often a notification arrives.
    enum NotificationDelivery: String, CaseIterable, Shaped {
        case once
        /// With the same `jti`.
        case twice
        case never
    }

    /// What a team hears that migrates users of clients it does not have yet.
    enum EarlyRecipient: String, CaseIterable, Shaped {
        /// A bearer token, and a refusal for each user.
        case invalidRequest = "invalid_request"
        /// No bearer token.
        case invalidClient = "invalid_client"
    }

    var order = Order.credentialFirst
    var audienceArray = AudienceArray.accepted
    var redirectMismatch = RedirectError.invalidGrant
    var acceptsSpareRedirect = false
    var mismatchFullStop = false
    var refreshIDToken = true
    var refreshNonce = false
    var refreshAfterRevoke = RevokedError.invalidGrant
    var revokeChecksHint = false
    var revokeChecksClient = false
    var revokeScope = RevokeScope.session
    var emailClaims = EmailClaims.boolean
    var clockSkewTolerance = Duration.seconds(5)
    var codeLifetime = Duration.seconds(300)
    var accessTokenLifetime = Duration.seconds(3600)
    var idTokenLifetime = Duration.seconds(86_400)
    var discoveryIssuer = DiscoveryIssuer.appleID
    var notificationEvents = NotificationEvents.string
    var notificationTime = NotificationTime.milliseconds
    var notificationPrivateEmail = EmailClaims.string
    var notificationDelivery = NotificationDelivery.once
    var migrationNeedsSignIn = false
    var earlyRecipient = EarlyRecipient.invalidRequest
    /// Not Apple's: without it no receiver on this machine could be tried.
    var allowsLoopbackRedirect = false

    /// Every switch as Apple is believed to behave.
    public init() {}
}
