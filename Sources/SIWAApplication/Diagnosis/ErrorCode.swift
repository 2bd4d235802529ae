/// The `code` of an error that siwa and siwa-server print, besides Apple's own codes that siwa does not
/// know. Each has a row in the catalogue (`ErrorCatalogue.swift`).
package enum ErrorCode: String, Sendable, CaseIterable {
    // Apple refused.
    case invalidClient = "invalid_client"
    case unauthorizedClient = "unauthorized_client"
    case invalidGrant = "invalid_grant"
    case invalidRequest = "invalid_request"
    case invalidScope = "invalid_scope"
    case unsupportedGrantType = "unsupported_grant_type"

    // Apple or the network cannot be reached.
    case outage
    case throttled
    case unreadableResponse = "unreadable_response"
    case nameLookup = "name_lookup"
    case connect
    case tls
    case certificate
    case proxy
    case timeout
    case cut
    case tooLarge = "too_large"
    case malformed
    case cancelled
    case authorities
    case resources
    case noKeySet = "no_key_set"
    case keysUnavailable = "keys_unavailable"
    case paused
    case busy

    // Settings, keys and files.
    case usage
    case configuration
    case key
    case clientSecret = "client_secret"
    case signerUnavailable = "signer_unavailable"
    case signerRefused = "signer_refused"
    case signerInvalidSignature = "signer_invalid_signature"
    case signerUnusable = "signer_unusable"
    case unavailable
    case noConfiguration = "no_configuration"
    case noProfiles = "no_profiles"
    case deployFailed = "deploy_failed"
    case notDelivered = "not_delivered"
    case temporary
    case interrupted
    case stopped
    case checksFailed = "checks_failed"
    case absentMember = "absent_member"
    case defect

    // Codes, tokens and revocations.
    case outcomeUnknown = "outcome_unknown"
    case notStored = "not_stored"
    case identityTokenNotValid = "identity_token_not_valid"
    case notificationNotValid = "notification_not_valid"
    case identityTokenInvalid = "identity_token_invalid"
    case notRevoked = "not_revoked"
    case notConfirmed = "not_confirmed"
    case noRefreshToken = "no_refresh_token"
    case noAccessToken = "no_access_token"
    case expired
    case expiresSoon = "expires_soon"
    case noExpiry = "no_expiry"
    case noActiveToken = "no_active_token"
    case noRecord = "no_record"
    case noRevocation = "no_revocation"
    case failed

    // Batches and files of records.
    case tooManyRefused = "too_many_refused"
    case unusualTokens = "unusual_tokens"
    case itemsNotDone = "items_not_done"
    case itemsHeld = "items_held"
    case tooLate = "too_late"
    case noItems = "no_items"
    case input
    case otherInput = "other_input"
    case invalidHeader = "invalid_header"
    case invalidLine = "invalid_line"
    case invalidLines = "invalid_lines"
    case idsMeet = "ids_meet"
    case noUsers = "no_users"

    // The vault and the inbox.
    case vault
    case noEvent = "no_event"
    case unchanged
    case nowhereToDeliver = "nowhere_to_deliver"

    // Answers of siwa-server.
    case codeMayBeSpent = "code_may_be_spent"
    case codeAlreadySent = "code_already_sent"
    case codeConflict = "code_conflict"
    case inProgress = "in_progress"
    case revocationPending = "revocation_pending"
    case tokenMayWork = "token_may_work"
    case clientWithoutProfile = "client_without_profile"
    case cursorUnknown = "cursor_unknown"
    case unauthorized
    case forbidden
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case notAcceptable = "not_acceptable"
    case bodyTooLarge = "body_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case headerTooLarge = "header_too_large"
    case noToken = "no_token"
    case tokenExists = "token_exists"

    /// What the catalogue says about it.
    package var entry: Entry? { Self.entries[self] }

    private static let entries: [ErrorCode: Entry] = Dictionary(
        groups.flatMap(\.entries).map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
}

extension ErrorCode {
    /// A row of the catalogue.
    package struct Entry: Sendable {
        /// The code.
        package let code: ErrorCode
        /// What happened.
        package let meaning: String
        /// What to do.
        package let remedy: String
        /// Whether it says more than the hints of an error: then the error names it.
        let hasMoreToSay: Bool

        init(_ code: ErrorCode, _ meaning: String, _ remedy: String, more: Bool = false) {
            (self.code, self.meaning, self.remedy) = (code, meaning, remedy)
            hasMoreToSay = more
        }
    }

    /// Rows about one subject.
    package struct Group: Sendable {
        /// The subject, as a heading.
        package let title: String
        /// The rows, the most important ones first.
        package let entries: [Entry]

        init(_ title: String, _ entries: [Entry]) { (self.title, self.entries) = (title, entries) }
    }
}
