internal import JOSE
internal import SIWACrypto

/// A request that was sent: traces it, and says what its result means.
///
/// A pure value that a single command and a batch share.
struct SentRequest: Sendable {
    private let secrets: [SecretText]
    private let start: Duration
    private let trace: RequestTrace?

    /// Traces the request.
    ///
    /// - Parameters:
    ///   - attempt: its number among the attempts at the same request, from 1.
    ///   - now: the time since some fixed start.
    init(_ request: HTTPRequest, attempt: Int, at now: Duration, trace: RequestTrace?) {
        (secrets, start, self.trace) = (request.secrets, now, trace)
        trace?(.sending(request, attempt: attempt))
    }

    /// Traces the result, and classifies it: what `read` makes of a 2xx response, or why there is
    /// nothing to use. Errors show the response without the secrets of the request.
    ///
    /// - Parameter read: returns nil for a response that is not one of Apple's.
    func conclude<Answer>(
        _ result: Result<HTTPResponse, TransportError>, at now: Duration,
        read: (HTTPResponse) -> Answer?
    ) -> Result<Answer, TokenFailure.Cause> {
        let response: HTTPResponse
        switch result {
        case .success(let received): response = received
        case .failure(let error):
            trace?(.failed(error, after: now - start))
            return .failure(.unreachable(error))
        }
        let answer = (200..<300).contains(response.status) ? read(response) : nil
        if let answer, trace == nil { return .success(answer) }
        let shown = response.redacting(secrets)
        trace?(.answered(shown, after: now - start))
        return answer.map { .success($0) } ?? .failure(shown.failure)
    }
}

extension HTTPResponse {
    /// Why a response that could not be read is of no use.
    fileprivate var failure: TokenFailure.Cause {
        // An overloaded server may respond with JSON; that is still an outage.
        if status < 500, status != 429, let error = AppleError(self) { return .refused(error) }
        return .unusable(self)
    }
}

/// Receives the events of requests, for `-v`.
package typealias RequestTrace = @Sendable (TraceEvent) -> Void

/// What a trace shows of a request; nothing in it is secret except the body of the request, which
/// it must not show.
package enum TraceEvent: Sendable {
    /// A request is sent.
    case sending(HTTPRequest, attempt: Int)
    /// A response came.
    case answered(HTTPResponse, after: Duration)
    /// No response came.
    case failed(TransportError, after: Duration)
    /// The next attempt has to wait.
    case waiting(Duration)
}
