internal import JOSE
internal import Lifecycle

/// Why a call failed.
public struct SignInWithAppleError: Error, Sendable {
    /// What went wrong. Later versions may add kinds.
    public enum Kind: String, Sendable, CaseIterable {
        /// An id, the private key or the base URL is invalid.
        case invalidConfiguration
        /// An argument is invalid, such as a code that contains a space. Nothing was sent.
        case invalidArgument
        /// Apple refused the client: `invalid_client` or `unauthorized_client`.
        case clientRefused
        /// Apple refused the code or the token: `invalid_grant`.
        case grantRefused
        /// Apple refused the request with another error of RFC 6749 §5.2.
        case requestRefused
        /// Apple received too many requests: 429.
        case rateLimited
        /// Apple is unavailable: a status of 500 or more.
        case unavailable
        /// The response is not Apple's, such as a page of a proxy.
        case unexpectedResponse
        /// No response was received: no connection, a timeout, or an untrusted certificate.
        case unreachable
        /// The task was cancelled. `codeMayBeSpent` is false: a call that sent a code returns.
        case cancelled
        /// An identity token is not Apple's, or not for this client, user or session.
        case invalidIdentityToken
        /// A notification is not Apple's, or not for this client.
        case invalidNotification
        /// Nothing could be verified because Apple's public keys cannot be fetched.
        case keysUnavailable
        /// Apple accepted a revocation, but a refresh shows that the token still works.
        case notRevoked
    }

    /// A check of an identity token or a notification that failed.
    public struct FailedCheck: Hashable, Sendable {
        /// What was checked, such as `audience`; the names are those of `siwa verify`.
        public let name: String
        /// What was found and what was expected.
        public let detail: String
    }

    /// What went wrong.
    public let kind: Kind
    /// What happened, as a sentence without a full stop. It contains no secret.
    public let message: String
    /// Whether the same call may succeed later. False for an exchange whose code may be spent.
    public internal(set) var isRetryable = false
    /// Whether an authorization code may have been sent and may no longer work: ask the user to
    /// sign in again.
    public internal(set) var codeMayBeSpent = false
    /// The wait that Apple requested; nil if none.
    public internal(set) var retryAfter: Duration?
    /// Apple's `error` (RFC 6749 §5.2), such as `invalid_grant`; nil without one.
    public internal(set) var appleError: String?
    /// The status of Apple's response; nil without one.
    public internal(set) var status: Int?
    /// Apple's id of the request, for Apple's support; nil if absent.
    public internal(set) var requestID: String?
    /// The failed checks, for the kinds `invalidIdentityToken` and `invalidNotification`.
    public internal(set) var failedChecks: [FailedCheck] = []
    /// The tokens that Apple issued, if the exchange itself succeeded. Keep the refresh token, to
    /// revoke it later; do not trust the identity token.
    public internal(set) var tokens: SignInTokens?

    init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }
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
        case .signing: self.init(.invalidConfiguration, "OpenSSL could not sign the client secret")
        // The library uses no secrets of other machines.
        case .expired, .otherClient, .unusable:
            self.init(.invalidConfiguration, "the client secret cannot be used")
        }
    }

    init(_ kind: Kind, _ token: String, _ failures: [Check]) {
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
