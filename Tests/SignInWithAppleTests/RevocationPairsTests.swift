import SIWACrypto
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// No pair of answers confirms the revocation of a token that may still work.
@Suite struct RevocationPairsTests {
    /// An answer, with what it means by the contract: written down here, not computed.
    struct Answer: Sendable {
        /// What the answer to a refresh says about the token.
        enum Meaning: Sendable { case works, invalidGrant, invalidRequest, nothing }

        let name: String
        let result: Result<HTTPResponse, TransportError>
        let meaning: Meaning
        /// Whether it accepts a revocation.
        let accepts: Bool

        init(
            _ status: Int, _ body: String, type: String = "application/json",
            _ meaning: Meaning = .nothing, accepts: Bool = false
        ) {
            name = "\(status) \(body) \(type)"
            result = .success(
                HTTPResponse(
                    status: status, fields: [HTTPField("Content-Type", type)],
                    body: Array(body.utf8)))
            (self.meaning, self.accepts) = (meaning, accepts)
        }

        init(_ kind: TransportError.Kind, left: Bool) {
            name = "\(kind)"
            result = .failure(TransportError(kind, "", requestMayHaveLeft: left))
            (meaning, accepts) = (.nothing, false)
        }
    }

    private static let grant = #"{"error":"invalid_grant"}"#

    static let answers = [
        Answer(200, #"{"access_token":"a","token_type":"Bearer"}"#, .works, accepts: true),
        Answer(200, "", accepts: true), Answer(200, "{}", accepts: true),
        Answer(200, #"{"access_token":1}"#, accepts: true), Answer(204, "", accepts: true),
        Answer(200, "<html></html>", type: "text/html"),
        Answer(200, "<html></html>", type: "TEXT/HTML; charset=utf-8"),
        Answer(302, "", type: "text/html"),
        Answer(400, grant, .invalidGrant), Answer(400, grant, type: "text/html", .invalidGrant),
        Answer(401, grant, .invalidGrant),
        Answer(400, #"{"error":"invalid_request"}"#, .invalidRequest),
        Answer(400, #"{"error":"invalid_client"}"#), Answer(400, #"{"error":"invalid_scope"}"#),
        Answer(400, #"{"error":"INVALID_GRANT"}"#), Answer(400, #"{"error":"invalid_grant "}"#),
        Answer(400, #"{"error":["invalid_grant"]}"#), Answer(400, String(grant.dropLast())),
        Answer(400, #"{"error":"new","error":"invalid_grant"}"#), Answer(400, ""),
        Answer(404, "<html>invalid_grant</html>", type: "text/html"), Answer(429, grant),
        Answer(500, grant), Answer(503, grant), Answer(502, "", type: "text/html"),
        Answer(.cut, left: true), Answer(.connect, left: false), Answer(.timeout, left: true),
    ]

    @Test(arguments: [Revocation.Proof.afterwards, .beforeAndAfterwards])
    func `only a refused refresh after an accepted revocation confirms it`(
        _ proof: Revocation.Proof
    ) async throws {
        let client = try Example.client()
        let before = proof == .afterwards ? [] : [Self.answers[0]]
        for revoke in Self.answers {
            for refresh in Self.answers {
                let isRefused =
                    refresh.meaning == .invalidGrant
                    || refresh.meaning == .invalidRequest && !before.isEmpty
                let end = await end(proof, before + [revoke, refresh], client)
                let pair: Comment = "\(revoke.name) then \(refresh.name)"
                #expect(end?.isConfirmed ?? false == (revoke.accepts && isRefused), pair)
                let survives = revoke.accepts && refresh.meaning == .works
                #expect((end?.evidence == .refreshAccepted) == survives, pair)
                #expect(end == nil || end?.isDead == !survives, pair)
            }
        }
        #expect(Self.answers.count * Self.answers.count >= 506)
    }

    @Test func `a refused refresh before the revocation proves that the token was dead already`()
        async throws
    {
        let client = try Example.client()
        for first in Self.answers where first.meaning != .works {
            let end = await end(.beforeAndAfterwards, [first], client)
            #expect((end?.wasActive == false) == (first.meaning == .invalidGrant))
            #expect(end?.isConfirmed != true && end?.status == nil, "\(first.name)")
        }
    }

    /// Nil if there is no conclusion.
    private func end(
        _ proof: Revocation.Proof, _ answers: [Answer], _ client: Client
    ) async -> Revocation? {
        let clocks = StillClock().clocks
        let tokens = TokenClient(
            client: client,
            delivery: Delivery(
                through: ScriptedTransport(answers.map(\.result)),
                policy: RetryPolicy(maxAttempts: 1),
                until: Deadline(after: .seconds(30), by: clocks.timekeeper), clocks: clocks))
        return try? await tokens.revoke(SecretText("r.1"), as: .refreshToken, proof: proof)
    }
}
