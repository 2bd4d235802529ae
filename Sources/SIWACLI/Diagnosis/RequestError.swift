internal import SignInWithApple

/// A request failed, and what siwa knows of the circumstances.
struct RequestError: Error, Sendable {
    let failure: TokenFailure
    /// Nil where no client took part.
    let situation: Situation?
    /// What is left to do when a code was spent on the way: the call cannot be repeated.
    var remedy: String?
}

/// What can be seen from here when Apple refuses.
struct Situation: Sendable {
    let client: RequestClient
    let server: BaseURL
    let hasRedirectURI: Bool
    let hasCodeVerifier: Bool
    /// What may be wrong with the client; looked for only when Apple refused it.
    let findings: [Finding]
}

extension Diagnosis {
    init(_ error: RequestError) {
        if error.failure.isOutcomeUnknown || error.remedy != nil && !error.failure.isRefusal {
            self.init(outcomeUnknown: error)
            return
        }
        switch error.failure.cause {
        case .refused(let refusal): self.init(refusal, error)
        case .unusable(let response): self.init(response, error.failure)
        case .unreachable(let reason): self.init(reason, error.failure)
        case .unminted(let reason): self.init(reason as any Error)
        }
    }

    private init(_ refusal: AppleError, _ error: RequestError) {
        let words = refusal.detail.map { ": \(printable($0))" } ?? ", without a reason"
        self.init(
            printable(refusal.code.rawValue, limit: 64),
            "Apple refused \(error.failure.request)\(words)",
            hints: (error.remedy.map { [$0] } ?? [])
                + (RefusalHints(refusal, error)?.all ?? []),
            exitCode: ExitCode(refusal.code), status: refusal.status, apple: refusal,
            requestID: refusal.requestID)
    }

    /// An answer that no token endpoint gives.
    private init(_ response: HTTPResponse, _ failure: TokenFailure) {
        let (code, message, hint) = Self.explain(response)
        self.init(
            code, "\(message), to \(failure.request)\(failure.attemptsText)",
            hints: [hint] + (failure.request == .exchange ? [Self.codeMayLive] : []),
            exitCode: .temporary, status: response.status, apple: AppleError(response),
            requestID: response.requestID)
    }

    private static func explain(
        _ response: HTTPResponse
    ) -> (code: String, message: String, hint: String) {
        let status = response.status
        let type =
            response.fields["Content-Type"].map { printable($0, limit: 60) } ?? "no content type"
        switch status {
        case 429:
            return (
                "throttled", "Apple answered 429, too many requests",
                "wait before the next run; Apple wants a refresh at most once a day for each user"
            )
        case 500...:
            return (
                "outage", "Apple answered \(status), an outage",
                "try later; developer.apple.com/system-status tells whether Apple knows"
            )
        case 300..<400:
            return (
                "unreadable_response", "a redirect (\(status)) came in place of an answer",
                "Apple does not redirect: look for a proxy or a captive portal, and at base_url"
            )
        case 200..<300 where response.body.isEmpty:
            return (
                "unreadable_response", "an empty answer came (\(status))",
                "try later; if it stays so, look for a proxy between here and Apple"
            )
        default:
            return (
                "unreadable_response", "an answer that is not Apple's came (\(status), \(type))",
                "look for a proxy or a captive portal, and at base_url; -v shows the request"
            )
        }
    }

    private init(_ reason: TransportError, _ failure: TokenFailure) {
        self.init(
            reason.kind.code,
            "\(reason.kind.words): \(printable(reason.message))\(failure.attemptsText)",
            hints: [reason.kind.hint]
                + (failure.request == .exchange
                    ? ["the code was not sent: it is still good"] : []),
            exitCode: [.unavailable, .authorities].contains(reason.kind) ? .settings : .temporary)
    }

    private init(outcomeUnknown error: RequestError) {
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
            : "the code was sent, and whether Apple exchanged it is unknown: \(detail)"
        self.init(
            "outcome_unknown", message,
            hints: error.remedy.map { [$0] } ?? [
                "do not send the code again blindly: Apple takes it once, and may have taken it",
                "ask the user to sign in again; the new code settles it",
            ], exitCode: .outcomeUnknown, status: response?.status,
            apple: response.flatMap { AppleError($0) }, requestID: error.failure.requestID)
    }

    private static let codeMayLive =
        "the code was sent once; within its five minutes one more try by hand may still work"
}

extension TokenFailure {
    var isRefusal: Bool {
        if case .refused = cause { true } else { false }
    }

    /// Whether Apple says that the token or code is none, or none any more.
    var isInvalidGrant: Bool {
        if case .refused(let refusal) = cause { refusal.code == .invalidGrant } else { false }
    }

    fileprivate var attemptsText: String { attempts > 1 ? " (\(attempts) attempts)" : "" }
}

extension ExitCode {
    /// Which of a runbook's branches an OAuth error belongs to.
    init(_ code: AppleError.Code) {
        switch code {
        case .invalidClient, .unauthorizedClient: self = .clientRefused
        case .invalidGrant: self = .grantRefused
        default: self = .requestRefused
        }
    }
}
