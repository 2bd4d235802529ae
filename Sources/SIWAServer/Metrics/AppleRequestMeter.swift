package import Lifecycle

/// Counts the requests to Apple and measures their durations.
package struct AppleRequestMeter: Transport {
    private let base: any Transport
    private let metrics: Metrics
    private let elapsed: @Sendable () -> Duration

    /// Counts the requests that `base` sends.
    package init(_ base: any Transport, _ metrics: Metrics, _ timekeeper: Timekeeper) {
        (self.base, self.metrics, elapsed) = (base, metrics, timekeeper.elapsed)
    }

    /// Sends a request and counts how it ended.
    package func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let start = elapsed()
        do {
            let response = try await base.send(request, timeout: timeout)
            count(request, Self.outcome(response), start)
            return response
        } catch {
            count(request, "\(error.kind)", start)
            throw error
        }
    }

    private func count(_ request: HTTPRequest, _ outcome: String, _ start: Duration) {
        metrics.countAppleRequest(
            Self.endpoint(request.url), outcome: outcome, elapsed() - start)
    }

    private static func outcome(_ response: HTTPResponse) -> String {
        if (200..<300).contains(response.status) { return "ok" }
        guard let refusal = AppleError(response), knownCodes.contains(refusal.code.rawValue) else {
            return "status_\(response.status)"
        }
        return refusal.code.rawValue
    }

    /// The error codes of RFC 6749 §5.2. Other codes do not become labels.
    private static let knownCodes = [
        "invalid_client", "invalid_grant", "invalid_request", "invalid_scope",
        "unauthorized_client", "unsupported_grant_type",
    ]

    private static func endpoint(_ url: String) -> String {
        for name in ["token", "revoke", "keys"] where url.hasSuffix("/auth/\(name)") { return name }
        return "other"
    }
}
