internal import SIWACrypto
internal import SIWAJOSE

/// A request that was sent: traces it, and classifies its result.
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
    ///   - now: the time since an arbitrary start.
    init(_ request: HTTPRequest, attempt: Int, at now: Duration, trace: RequestTrace?) {
        (secrets, start, self.trace) = (request.secrets, now, trace)
        trace?(.sending(request, attempt: attempt))
    }

    /// Traces the result, and classifies it: the value that `read` returns for a 2xx response, or
    /// the cause of the failure. Errors show the response without the secrets of the request.
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
    /// The cause of the failure, for a response that could not be read.
    fileprivate var failure: TokenFailure.Cause {
        // An overloaded server may respond with JSON; that is still an outage.
        if status < 500, status != 429, let error = AppleError(self) { return .refused(error) }
        return .unusable(self)
    }
}

/// Receives the events of requests, for `-v`.
package typealias RequestTrace = @Sendable (TraceEvent) -> Void

/// An event of a request. Only the body of the request is secret, which a trace must not show.
package enum TraceEvent: Sendable {
    /// A request is sent.
    case sending(HTTPRequest, attempt: Int)
    /// A response was received.
    case answered(HTTPResponse, after: Duration)
    /// No response was received.
    case failed(TransportError, after: Duration)
    /// The next attempt waits.
    case waiting(Duration)
}
