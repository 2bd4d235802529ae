import SIWACrypto
import SIWACurlTransport
import SIWALifecycle
import Testing

extension HTTPRequest {
    /// A small form, such as the token endpoint takes.
    static func form(
        to url: String, _ body: String = "grant_type=refresh_token", isRepeatable: Bool = true
    ) -> HTTPRequest {
        HTTPRequest(
            method: .post, url: url, fields: [HTTPField("Accept", "application/json")],
            body: SecretBytes(body.utf8), isRepeatable: isRepeatable)
    }
}

extension CurlTransport {
    /// Sends a small form, with more time than any test takes.
    func post(
        _ url: String, isRepeatable: Bool = true, timeout: Duration = .seconds(60)
    ) async throws(TransportError) -> HTTPResponse {
        try await send(.form(to: url, isRepeatable: isRepeatable), timeout: timeout)
    }

    /// Sends a small form and expects an error.
    func failure(
        of url: String, isRepeatable: Bool = true, timeout: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> TransportError? {
        do {
            let response = try await post(url, isRepeatable: isRepeatable, timeout: timeout)
            Issue.record("answered \(response.status)", sourceLocation: sourceLocation)
            return nil
        } catch {
            return error
        }
    }
}
