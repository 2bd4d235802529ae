internal import SIWAJOSE
internal import SIWALifecycle

/// Why a call failed.
public struct SignInWithAppleError: Error, Hashable, Sendable {
    /// What went wrong. An open set: later versions may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name in snake_case, as it may stand in a log.
        public let rawValue: String

        /// Creates a kind from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An id, the key or the base URL is invalid.
        public static let invalidConfiguration = Self(rawValue: "invalid_configuration")
        /// An argument is invalid, such as a code that contains a space. Nothing was sent.
        public static let invalidArgument = Self(rawValue: "invalid_argument")
        /// There is no key for a client id.
        public static let unknownClient = Self(rawValue: "unknown_client")
        /// Apple refused the client: `invalid_client` or `unauthorized_client`.
        public static let clientRefused = Self(rawValue: "client_refused")
        /// Apple refused the code or the token: `invalid_grant`.
        public static let grantRefused = Self(rawValue: "grant_refused")
        /// Apple refused the request with another error of RFC 6749 §5.2.
        public static let requestRefused = Self(rawValue: "request_refused")
        /// Apple received too many requests: 429.
        public static let rateLimited = Self(rawValue: "rate_limited")
        /// Apple is unavailable: a status of 500 or more.
        public static let unavailable = Self(rawValue: "unavailable")
        /// The response is not Apple's, such as a page of a proxy.
        public static let unexpectedResponse = Self(rawValue: "unexpected_response")
        /// No response was received: no connection, a timeout, or an untrusted certificate.
        public static let unreachable = Self(rawValue: "unreachable")
        /// The task was cancelled. `codeMayBeSpent` is false: a call that sent a code returns.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The key could not sign a client secret. `isRetryable` says whether it may later.
        public static let signerFailed = Self(rawValue: "signer_failed")
        /// The user cancelled a sign-in on the web, or Apple refused it.
        public static let signInRefused = Self(rawValue: "sign_in_refused")
        /// The answer to a sign-in on the web does not belong to this browser.
        public static let stateMismatch = Self(rawValue: "state_mismatch")
        /// An identity token is not Apple's, or not for this client, user or session.
        public static let invalidIdentityToken = Self(rawValue: "invalid_identity_token")
        /// A notification is not Apple's, or not for this client.
        public static let invalidNotification = Self(rawValue: "invalid_notification")
        /// Nothing could be verified because Apple's public keys cannot be fetched.
        public static let keysUnavailable = Self(rawValue: "keys_unavailable")
        /// Apple accepted a revocation, but a refresh shows that the token still works.
        public static let notRevoked = Self(rawValue: "not_revoked")
        /// The exchange succeeded, but the vault did not store the token: see ``tokens``.
        public static let notStored = Self(rawValue: "not_stored")
    }

    /// A check of an identity token or a notification that failed.
    public struct FailedCheck: Hashable, Sendable {
        /// What was checked, such as `audience`; the names are those of `siwa verify`.
        public let name: String
        /// What was found and what was expected.
        public let detail: String

        /// Creates a check, for tests.
        public init(name: String, detail: String) { (self.name, self.detail) = (name, detail) }
    }

    /// What went wrong.
    public let kind: Kind
    /// What happened, as a sentence without a full stop. It contains no secret.
    public let message: String
    /// Whether the same call may succeed later. False for an exchange whose code may be spent.
    public var isRetryable = false
    /// Whether an authorization code may have been sent and may no longer work: ask the user to
    /// sign in again.
    public var codeMayBeSpent = false
    /// The wait that Apple requested; nil if none.
    public var retryAfter: Duration?
    /// Apple's `error` (RFC 6749 §5.2), such as `invalid_grant`; nil without one.
    public var appleError: String?
    /// The status of Apple's response; nil without one.
    public var status: Int?
    /// Apple's id of the request, for Apple's support; nil if absent.
    public var requestID: String?
    /// The failed checks, for the kinds `invalidIdentityToken` and `invalidNotification`.
    public var failedChecks: [FailedCheck] = []
    /// The tokens that Apple issued, if the exchange itself succeeded. Keep the refresh token, to
    /// revoke it later; do not trust the identity token.
    public var tokens: SignInTokens?
    /// The verified sign-in whose token was not stored, for the kind `notStored`; nil otherwise.
    public var signIn: SignIn?

    /// Creates an error, for tests.
    ///
    /// - Parameters:
    ///   - kind: what went wrong.
    ///   - message: what happened; it must contain no secret.
    public init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }
}

extension SignInWithAppleError: CustomStringConvertible {
    /// ``message``.
    public var description: String { message }
}

// Conversion of the engine's errors.
extension SignInWithAppleError {
    init(_ failure: TokenFailure, at now: NumericDate) {
        let what = "\(failure.request)"
        switch failure.cause {
        case .refused(let refusal): self.init(refusal, of: what)
        case .unusable(let response): self.init(response, to: what)
        case .unreachable(let error):
            let isCancelled = error.kind == .cancelled && !failure.isOutcomeUnknown
            self.init(
                isCancelled ? .cancelled : .unreachable, "\(what) failed: \(error.message)")
        case .unminted(let error): self.init(error)
        }
        // Repeating a cancelled refresh or revocation is harmless.
        isRetryable =
            (failure.cause.scope == .passing || kind == .cancelled) && !failure.isOutcomeUnknown
        codeMayBeSpent = failure.isOutcomeUnknown
        retryAfter = failure.cause.retryAfter(at: now)
        requestID = failure.requestID
    }

    private init(_ refusal: AppleError, of what: String) {
        let detail = refusal.detail.map { " (\($0))" } ?? ""
        self.init(
            Kind(refusal.code), "Apple refused \(what): \(refusal.code.rawValue)\(detail)")
        (appleError, status) = (refusal.code.rawValue, refusal.status)
    }

    private init(_ response: HTTPResponse, to what: String) {
        let kind: Kind =
            switch response.status {
            case 429: .rateLimited
            case 500...: .unavailable
            default: .unexpectedResponse
            }
        self.init(kind, "\(what) failed: unexpected response with status \(response.status)")
        status = response.status
    }

    init(_ error: ClientSecretError) {
        switch error {
        case .tooShort:
            self.init(.invalidArgument, "the lifetime of a client secret is at least one second")
        case .tooLong:
            self.init(
                .invalidArgument, "the lifetime of a client secret is at most 15,777,000 seconds")
        case .signer, .pending:
            self.init(.signerFailed, error.description)
            isRetryable = error.mayPass
        // The library uses no secrets of other machines.
        case .expired, .otherClient, .unusable:
            self.init(.invalidConfiguration, "the client secret cannot be used")
        }
    }

    init(_ kind: Kind, _ token: String, _ failures: [TokenCheck]) {
        let checks = failures.map { FailedCheck(name: $0.name, detail: $0.detail ?? "failed") }
        let list = checks.map { "\($0.name): \($0.detail)" }.joined(separator: "; ")
        self.init(kind, "\(token) is not valid (\(list))")
        failedChecks = checks
    }

    /// The same error, with the tokens of an exchange that succeeded.
    func carrying(_ tokens: SignInTokens) -> Self {
        var error = self
        (error.isRetryable, error.codeMayBeSpent) = (false, true)
        (error.tokens, error.requestID) = (tokens, tokens.requestID)
        return error
    }
}

extension SignInWithAppleError.Kind {
    fileprivate init(_ code: AppleError.Code) {
        switch code {
        case .invalidClient, .unauthorizedClient: self = .clientRefused
        case .invalidGrant: self = .grantRefused
        default: self = .requestRefused
        }
    }
}

/// Text from outside, safe and short enough for a message.
func displayed(_ text: String) -> String { text.withoutControls.clipped(to: 80) }
