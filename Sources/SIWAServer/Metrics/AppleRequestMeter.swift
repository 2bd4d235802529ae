internal import SIWAApplication
internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords

/// Counts a profile's requests to Apple, measures their durations, and notes whether Apple refuses
/// its client.
struct AppleRequestMeter: Transport {
    private let base: any Transport
    private let profile: String
    private let metrics: Metrics
    private let clocks: Clocks

    /// Counts the requests that `base` sends.
    ///
    /// - Parameter profile: the name of the profile; empty without profiles.
    init(
        _ base: any Transport, of profile: String, _ metrics: Metrics, _ clocks: Clocks
    ) {
        (self.base, self.profile) = (base, profile)
        (self.metrics, self.clocks) = (metrics, clocks)
    }

    /// Sends a request and counts how it ended.
    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let start = clocks.timekeeper.elapsed()
        do {
            let response = try await base.send(request, timeout: timeout)
            let outcome = Self.outcome(of: request, response)
            count(request, outcome, start)
            noteRefusal(request, outcome)
            return response
        } catch {
            count(request, "\(error.kind)", start)
            throw error
        }
    }

    private func count(_ request: HTTPRequest, _ outcome: String, _ start: Duration) {
        let endpoint = Self.endpoint(request.url)
        metrics.countAppleRequest(
            endpoint, outcome: outcome, clocks.timekeeper.elapsed() - start)
        metrics.note(
            ServerFacts.Answer(
                at: clocks.now(), endpoint: endpoint, outcome: outcome, profile: profile))
    }

    /// Only tokens prove that Apple accepts the client: it looks a code or a token up before it
    /// examines the client, and answers 200 to the revocation of any text.
    private func noteRefusal(_ request: HTTPRequest, _ outcome: String) {
        switch (Self.endpoint(request.url), outcome) {
        case ("token", "invalid_client"), ("revoke", "invalid_client"):
            metrics.noteRefusal(of: profile, true)
        case ("token", "ok"): metrics.noteRefusal(of: profile, false)
        default: break
        }
    }

    /// Anybody on the way can answer with a page, and with any status.
    private static func outcome(of request: HTTPRequest, _ response: HTTPResponse) -> String {
        let status = response.status
        if (200..<300).contains(status) {
            let isApples =
                switch endpoint(request.url) {
                case "token": TokenResponse(response) != nil
                case "revoke": !response.isHTML
                case "keys": KeySet(response.body) != nil
                default: true
                }
            return isApples ? "ok" : "unreadable_\(status)"
        }
        guard status < 500, status != 429 else { return "status_\(status)" }
        guard let refusal = AppleError(response) else { return "unreadable_\(status)" }
        let code = refusal.code.rawValue
        return knownCodes.contains(code) ? code : "status_\(status)"
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
