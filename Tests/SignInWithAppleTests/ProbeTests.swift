import SIWACrypto
import SIWALifecycle
import Testing

/// What an answer proves about a secret, and what it does not.
@Suite struct ProbeTests {
    enum Verdict: Sendable { case accepted, refused, unknown }

    static let rows: [Row<(Result<HTTPResponse, TransportError>, Verdict)>] = [
        Row("tokens", (.tokens, .accepted)),
        Row("invalid_client", (.invalidClient, .refused)),
        Row("invalid_scope", (.json(400, #"{"error":"invalid_scope"}"#), .unknown)),
        Row("unauthorized_client", (.json(400, #"{"error":"unauthorized_client"}"#), .unknown)),
        Row("an outage in JSON", (.json(503, #"{"error":"invalid_client"}"#), .unknown)),
        Row("a portal's page", (.page(200), .unknown)),
        Row("no answer", (.failed(.connect, mayHaveLeft: false), .unknown)),
    ]

    @Test(arguments: rows)
    func `the response to a probe shows whether the client_secret is accepted`(
        _ row: Row<(Result<HTTPResponse, TransportError>, Verdict)>
    ) async throws {
        let harness = try ClientHarness(Array(repeating: row.value.0, count: 4))
        let secret = SecretText("e.x.y")
        let verdict: Verdict =
            switch await harness.probe.verdict(on: secret, for: Example.clientID) {
            case .accepted: .accepted
            case .refused: .refused
            case .unknown: .unknown
            }
        #expect(verdict == row.value.1)
        let sent = try #require(harness.transport.sent.first)
        #expect(sent["client_secret"] == "e.x.y" && sent["client_id"] == "com.example.app")
        #expect(sent["grant_type"] == "client_credentials" && sent["scope"] == "user.migration")
    }

    @Test func `the function of the client for the same request returns the token`() async throws {
        let harness = try ClientHarness([.tokens])
        let answer = try await harness.tokens.teamToken()
        #expect(answer.accessToken.text.revealed() == "a.1")
        let sent = try #require(harness.transport.sent.first)
        #expect(sent["grant_type"] == "client_credentials" && sent["scope"] == "user.migration")
    }
}
