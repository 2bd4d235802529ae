package import SIWAJOSE

/// Why a request to Apple failed.
package struct TokenFailure: Error, Sendable {
    /// The cause of the last failure.
    package enum Cause: Sendable {
        /// Apple answered with an OAuth error.
        case refused(AppleError)
        /// An answer that is not the token endpoint's: an outage page, a rate limit, a captive
        /// portal.
        case unusable(HTTPResponse)
        /// No answer.
        case unreachable(TransportError)
        /// No request was sent, because the client_secret could not be minted.
        case unminted(ClientSecretError)
    }

    /// The cause of the last failure.
    package let cause: Cause
    /// The kind of the request.
    package let request: RequestKind
    /// The number of attempts.
    package let attempts: Int
    /// Apple's clock minus this machine's at the last answer; nil without an answer.
    package let clockOffset: Duration?

    /// Whether the request may have taken effect although no answer says so: a single-use code may
    /// be spent.
    package let isOutcomeUnknown: Bool

    /// How the code or token looks that was sent; nil for other requests.
    package private(set) var look: TokenLook?

    package init(
        cause: Cause, request: RequestKind, attempts: Int, clockOffset: Duration? = nil,
        isOutcomeUnknown: Bool = false
    ) {
        self.cause = cause
        self.request = request
        self.attempts = attempts
        self.clockOffset = clockOffset
        self.isOutcomeUnknown = isOutcomeUnknown
    }

    /// The same failure of a request with this code or token.
    func noting(_ look: TokenLook?) -> Self {
        var failure = self
        failure.look = look
        return failure
    }

    /// The same failure with another kind of request.
    func describing(_ request: RequestKind) -> Self {
        Self(
            cause: cause, request: request, attempts: attempts, clockOffset: clockOffset,
            isOutcomeUnknown: isOutcomeUnknown)
    }
}

extension TokenFailure: CustomStringConvertible {
    /// What happened, as a sentence without a full stop.
    package var description: String { "\(request) failed: \(cause)" }
}

extension TokenFailure.Cause: CustomStringConvertible {
    /// What happened, as a sentence without a full stop.
    package var description: String {
        switch self {
        case .refused(let error): "Apple refused it: \(error)"
        case .unusable(let response):
            "the response with status \(response.status) is not the token endpoint's"
        case .unreachable(let error): error.message
        case .unminted(let error): error.description
        }
    }
}

extension TokenFailure {
    /// Apple's id of the request that failed; nil if Apple did not answer or sent none.
    package var requestID: String? { cause.requestID }
}

extension TokenFailure.Cause {
    /// Apple's id of the request; nil if Apple did not answer or sent none.
    package var requestID: String? {
        switch self {
        case .refused(let refusal): refusal.requestID
        case .unusable(let response): response.requestID
        case .unreachable, .unminted: nil
        }
    }
}

extension HTTPResponse {
    /// Whether its content type is HTML.
    package var isHTML: Bool {
        guard let type = fields["Content-Type"] else { return false }
        return type.utf8.span.extracting(first: 9).isEqualIgnoringCase("text/html".utf8.span)
    }

    /// Apple's id of this exchange, which its support asks for; nil if Apple sent none.
    package var requestID: String? {
        requestID(in: "X-Apple-I-Request-ID") ?? requestID(in: "X-Apple-Request-UUID")
    }

    private func requestID(in name: String) -> String? {
        guard let id = fields[name]?.trimmingSpace, !id.isEmpty else { return nil }
        return id
    }

    /// How long the server asks to wait (RFC 9110 §10.2.3): seconds, or until a date.
    package func retryAfter(at now: NumericDate) -> Duration? {
        guard let text = fields["Retry-After"]?.trimmingSpace else { return nil }
        if text.isDecimal {
            // A number too large for an `Int` is a wait longer than every limit.
            return .seconds(Int(text) ?? .max)
        }
        return NumericDate(httpDate: text).map { max($0 - now, .zero) }
    }

    /// Apple's clock minus `now`, by the `Date` field; nil without one.
    package func clockOffset(at now: NumericDate) -> Duration? {
        fields["Date"].flatMap { NumericDate(httpDate: $0) }.map { $0 - now }
    }
}
