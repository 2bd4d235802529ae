internal import SIWAJOSE

/// A switch of `emulator.json` and `POST /emulator/switches`, and the behavior that it sets.
private struct Switch: Sendable {
    let name: String
    let read: @Sendable (Behaviors) -> JSON
    let write: @Sendable (inout Behaviors, JSONObjectReader) throws(ShapeError) -> Void
    /// Its only values; empty for a duration.
    let choices: [JSON]

    private init<Value: JSONConvertible>(
        _ name: String, _ path: any WritableKeyPath<Behaviors, Value> & Sendable,
        among choices: [JSON]
    ) {
        (self.name, self.choices) = (name, choices)
        read = { $0[keyPath: path].json }
        write = { (behaviors, reader) throws(ShapeError) in
            if let value: Value = try reader.optional(name) { behaviors[keyPath: path] = value }
        }
    }

    init<Value: JSONConvertible & CaseIterable>(
        _ name: String, _ path: any WritableKeyPath<Behaviors, Value> & Sendable
    ) {
        self.init(name, path, among: Value.allCases.map(\.json))
    }

    init(_ name: String, _ path: any WritableKeyPath<Behaviors, Bool> & Sendable) {
        self.init(name, path, among: [false, true])
    }

    init(_ name: String, _ path: any WritableKeyPath<Behaviors, Duration> & Sendable) {
        self.init(name, path, among: [])
    }

    /// A switch that chooses between some of Apple's error codes.
    init(
        _ name: String, _ path: any WritableKeyPath<Behaviors, Refusal.Code> & Sendable,
        _ choices: Refusal.Code...
    ) {
        self.name = name
        self.choices = choices.map { .string($0.rawValue) }
        read = { .string($0[keyPath: path].rawValue) }
        write = { (behaviors, reader) throws(ShapeError) in
            guard let text: String = try reader.optional(name) else { return }
            guard let code = choices.first(where: { $0.rawValue == text }) else {
                let known = choices.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                throw ShapeError(reader.place, "'\(name)' must be one of \(known)")
            }
            behaviors[keyPath: path] = code
        }
    }

    static let all = secrets + requests + grants + tokens + revocation + pages + notifications

    private static let secrets = [
        Switch("order", \.order),
        Switch("audience_array", \.audienceArray),
        Switch("fractional_times", \.fractionalTimes),
        Switch("missing_iat", \.missingIssuedAt),
        Switch("clock_skew_tolerance", \.clockSkewTolerance),
        Switch("secret_clock", \.secretClock),
    ]

    private static let requests = [
        Switch("missing_client_secret", \.missingSecret, .invalidClient, .invalidRequest),
        Switch(
            "missing_grant_type", \.missingGrantType, .invalidRequest, .unsupportedGrantType),
        Switch("missing_code", \.missingCode, .invalidRequest, .invalidGrant),
        Switch("unknown_grant_type", \.unknownGrant, .unsupportedGrantType, .invalidRequest),
        Switch("repeated_parameter", \.repeatedParameter),
        Switch("missing_user_agent", \.missingUserAgent),
        Switch("head_requests", \.headRequests),
        Switch("wrong_method", \.wrongMethod),
    ]

    private static let grants = [
        Switch("redirect_mismatch", \.redirectMismatch, .invalidGrant, .invalidClient),
        Switch("accept_spare_redirect_uri", \.acceptsSpareRedirect),
        Switch("redirect_mismatch_description", \.mismatchDescribesRedirect),
        Switch("mismatch_full_stop", \.mismatchFullStop),
        Switch("pkce_failure", \.pkceFailure, .invalidGrant, .invalidRequest),
        Switch("code_lifetime", \.codeLifetime),
        Switch("access_token_lifetime", \.accessTokenLifetime),
        Switch("refresh_token_lifetime", \.refreshTokenLifetime),
    ]

    private static let tokens = [
        Switch("id_token_lifetime", \.idTokenLifetime),
        Switch("token_issuer", \.tokenIssuer),
        Switch("email_claims", \.emailClaims),
        Switch("relay_domain", \.relayDomain),
        Switch("refresh_id_token", \.refreshIDToken),
        Switch("refresh_nonce", \.refreshNonce),
        Switch("refresh_auth_time", \.refreshAuthTime),
        Switch("refresh_real_user_status", \.refreshRealUserStatus),
    ]

    private static let revocation = [
        Switch("refresh_after_revoke", \.refreshAfterRevoke, .invalidGrant, .invalidRequest),
        Switch("revoke_content_type", \.revokeContentType),
        Switch("revoke_missing_token", \.revokeMissingToken),
        Switch("revoke_takes_code", \.revokeTakesCode),
        Switch("revoke_checks_hint", \.revokeChecksHint),
        Switch("revoke_checks_client", \.revokeChecksClient),
        Switch("revoke_scope", \.revokeScope),
    ]

    private static let pages = [
        Switch(
            "unregistered_redirect", \.unregisteredRedirect, .invalidRequest, .unauthorizedClient),
        Switch("authorize_texts", \.authorizeTexts),
        Switch("authorize_refusal", \.authorizeRefusal),
        Switch("unknown_scope", \.unknownScope),
        Switch("scope_plus", \.scopePlus),
        Switch("web_message", \.webMessage),
        Switch("discovery_issuer", \.discoveryIssuer),
        Switch("keys_max_age", \.keysMaxAge),
        Switch("keys_no_store", \.keysNoStore),
        Switch("later_email", \.laterEmail),
        Switch("allow_loopback_redirect", \.allowsLoopbackRedirect),
    ]

    private static let notifications = [
        Switch("notification_events", \.notificationEvents),
        Switch("notification_time", \.notificationTime),
        Switch("notification_private_email", \.notificationPrivateEmail),
        Switch("notification_delivery", \.notificationDelivery),
        Switch("team_token", \.teamToken),
        Switch("migration_needs_sign_in", \.migrationNeedsSignIn),
        Switch("early_recipient", \.earlyRecipient, .invalidRequest, .invalidClient),
        Switch("transferred_tokens", \.transferredTokens),
    ]
}

extension Behaviors {
    /// A switch as the console shows it.
    struct Setting {
        let name: String
        let value: JSON
        let standard: JSON
        /// The only values; empty for a duration.
        let choices: [JSON]

        var isStandard: Bool { value == standard }
    }

    /// Every switch, its value, and its default.
    var settings: [Setting] {
        let standard = Behaviors()
        return Switch.all.map {
            Setting(
                name: $0.name, value: $0.read(self), standard: $0.read(standard),
                choices: $0.choices)
        }
    }

    /// Every switch and its value.
    var json: JSON { .object(Switch.all.map { JSON.Member($0.name, $0.read(self)) }) }

    /// Sets the switches that `json` names; changes nothing if one is invalid.
    mutating func set(_ json: JSON) throws(ShapeError) {
        let reader = try JSONObjectReader(json, at: "switches", knowing: Switch.all.map(\.name))
        var changed = self
        for entry in Switch.all { try entry.write(&changed, reader) }
        self = changed
    }
}
