package import SIWALifecycle

/// A failed request, with its circumstances.
package struct RequestError: Error {
    package let failure: TokenFailure
    /// Nil for a request without a client.
    let context: FailureContext?
    /// The advice if a code was spent: the call cannot be repeated.
    package var remedy: String?

    package init(failure: TokenFailure, context: FailureContext?, remedy: String? = nil) {
        (self.failure, self.context, self.remedy) = (failure, context, remedy)
    }
}

/// The circumstances of a failure that are visible on this machine.
package struct FailureContext: Sendable {
    let client: RequestClient
    let server: BaseURL
    let hasRedirectURI: Bool
    let hasCodeVerifier: Bool
    /// Whether the value was on a command line, whose syntax can then be the remedy.
    let isCommandLine: Bool
    /// The possible faults of the client; searched only if Apple refused it.
    let findings: [Finding]
}

extension FailureContext {
    /// Searches for faults of the client if Apple refused it.
    package init(
        after failure: TokenFailure, _ client: RequestClient, _ session: Session,
        server: BaseURL, hasRedirectURI: Bool, hasCodeVerifier: Bool, isCommandLine: Bool = true
    ) {
        var findings: [Finding] = []
        if case .refused(let refusal) = failure.cause, refusal.code == .invalidClient {
            findings = client.findings(
                LocalCandidates(session.settings, in: session.world),
                at: session.world.clocks.now(), isWeb: hasRedirectURI)
        }
        self.init(
            client: client, server: server, hasRedirectURI: hasRedirectURI,
            hasCodeVerifier: hasCodeVerifier, isCommandLine: isCommandLine, findings: findings)
    }
}

extension RequestError: DiagnosableError {
    package var diagnosis: Diagnosis {
        if failure.isOutcomeUnknown || remedy != nil && !failure.isRefusal {
            return Diagnosis(outcomeUnknown: self)
        }
        return switch failure.cause {
        case .refused(let refusal): Diagnosis(refusal, self)
        case .unusable(let response): Diagnosis(response, failure)
        case .unreachable(let reason): Diagnosis(reason, failure)
        case .unminted(let reason): reason.diagnosis
        }
    }
}

extension Diagnosis {
    fileprivate init(_ refusal: AppleError, _ error: RequestError) {
        let words = refusal.detail.map { ": \(printable($0))" } ?? ", without a reason"
        self.init(
            recorded: printable(refusal.code.rawValue, limit: 64),
            "Apple refused \(error.failure.request)\(words)",
            hints: (error.remedy.map { [$0] } ?? [])
                + (RefusalHints(refusal, error)?.all ?? []),
            exitCode: ExitCode(refusal.code), status: refusal.status, apple: refusal,
            requestID: refusal.requestID)
    }

    /// An answer that is not the token endpoint's.
    fileprivate init(_ response: HTTPResponse, _ failure: TokenFailure) {
        let (code, message, hint) = Self.explain(response)
        self.init(
            code, "\(message), to \(failure.request)\(failure.attemptsText)",
            hints: [hint] + (failure.request == .exchange ? [Self.codeMayLive] : []),
            exitCode: .temporary, status: response.status, apple: AppleError(response),
            requestID: response.requestID,
            apiStatus: response.status == 429 ? .tooManyRequests : nil)
    }

    private static func explain(
        _ response: HTTPResponse
    ) -> (code: ErrorCode, message: String, hint: String) {
        let status = response.status
        let type =
            response.fields["Content-Type"].map { printable($0, limit: 60) } ?? "no content type"
        switch status {
        case 429:
            return (
                .throttled, "Apple answered 429, too many requests",
                "wait before the next run; refresh each user's token at most once a day"
            )
        case 500...:
            return (
                .outage, "Apple answered \(status), an outage",
                "try later; check developer.apple.com/system-status"
            )
        case 300..<400:
            return (
                .unreadableResponse, "a redirect (\(status)) was received in place of a response",
                "Apple does not redirect: check for a proxy or a captive portal, and check base_url"
            )
        case 200..<300 where response.body.isEmpty:
            return (
                .unreadableResponse, "an empty response was received (\(status))",
                "try later; if this continues, check for a proxy between this machine and Apple"
            )
        default:
            return (
                .unreadableResponse,
                "a response that is not Apple's was received (\(status), \(type))",
                "check for a proxy or a captive portal, and check base_url; -v shows the request"
            )
        }
    }

    fileprivate init(_ reason: TransportError, _ failure: TokenFailure) {
        self.init(
            reason.kind.code,
            "\(reason.kind.words): \(printable(reason.message))\(failure.attemptsText)",
            hints: [reason.kind.hint]
                + (failure.request == .exchange
                    ? ["the code was not sent, and is still valid"] : []),
            exitCode: [.unavailable, .authorities].contains(reason.kind) ? .settings : .temporary)
    }

    fileprivate init(outcomeUnknown error: RequestError) {
        let response: HTTPResponse? =
            if case .unusable(let response) = error.failure.cause { response } else { nil }
        let detail: String =
            switch error.failure.cause {
            case .unreachable(let reason): "\(reason.kind.words): \(printable(reason.message))"
            case .unusable(let response): Self.explain(response).message
            case .refused, .unminted: "no answer"
            }
        let message =
            error.remedy != nil
            ? "the code was exchanged, but \(error.failure.request) failed: \(detail)"
            : "the code was sent, and it is unknown whether Apple exchanged it: \(detail)"
        self.init(
            .outcomeUnknown, message,
            hints: error.remedy.map { [$0] } ?? [
                "do not send the code again blindly: Apple accepts it once, and may have accepted it",
                "ask the user to sign in again, and use the new code",
            ], exitCode: .outcomeUnknown, status: response?.status,
            apple: response.flatMap { AppleError($0) }, requestID: error.failure.requestID)
    }

    private static let codeMayLive =
        "the code was sent once; one more attempt by hand, within its five minutes, may still work"
}

extension TokenFailure {
    var isRefusal: Bool {
        if case .refused = cause { true } else { false }
    }

    fileprivate var attemptsText: String { attempts > 1 ? " (\(attempts) attempts)" : "" }
}

extension ExitCode {
    /// The exit code of an OAuth error.
    init(_ code: AppleError.Code) {
        switch code {
        case .invalidClient, .unauthorizedClient: self = .clientRefused
        case .invalidGrant: self = .grantRefused
        default: self = .requestRefused
        }
    }
}
