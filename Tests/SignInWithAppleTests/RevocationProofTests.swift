import SIWACrypto
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// The single command and the batch follow the same rules of proof.
@Suite struct RevocationProofTests {
    /// What Apple, or something in front of it, can answer to any of the requests.
    enum Answer: String, CaseIterable {
        case worked, invalidGrant, invalidRequest, invalidScope, invalidClient, unknownError
        case outage, page

        var response: HTTPResponse {
            switch self {
            case .worked:
                json(200, #"{"access_token":"a.2","token_type":"Bearer","expires_in":3600}"#)
            case .invalidGrant: json(400, #"{"error":"invalid_grant"}"#)
            case .invalidRequest: json(400, #"{"error":"invalid_request"}"#)
            case .invalidScope: json(400, #"{"error":"invalid_scope"}"#)
            case .invalidClient: json(400, #"{"error":"invalid_client"}"#)
            case .unknownError: json(400, #"{"error":"new_error"}"#)
            case .outage: page(503)
            case .page: page(200)
            }
        }

        private func json(_ status: Int, _ body: String) -> HTTPResponse {
            HTTPResponse(
                status: status, fields: [HTTPField("Content-Type", "application/json")] + ids,
                body: Array(body.utf8))
        }

        private func page(_ status: Int) -> HTTPResponse {
            HTTPResponse(
                status: status, fields: [HTTPField("Content-Type", "text/html")] + ids,
                body: Array("<html></html>".utf8))
        }

        private var ids: [HTTPField] { [HTTPField("X-Apple-I-Request-ID", "id of \(rawValue)")] }
    }

    /// What a path asked Apple, and how it ended.
    struct Course: Hashable {
        var sent: [String] = []
        var end = "nothing"

        mutating func take(_ revocation: Revocation) {
            let known: [Any?] = [
                revocation.status, revocation.wasActive, revocation.evidence?.rawValue,
                revocation.refreshStatus, revocation.requestID,
            ]
            end = known.map { $0.map { "\($0)" } ?? "-" }.joined(separator: " ")
        }
    }

    @Test(arguments: Revocation.Proof.allCases)
    func `both paths reach the same conclusion from every sequence of answers`(
        _ proof: Revocation.Proof
    ) async throws {
        let client = try Example.client()
        for first in Answer.allCases {
            for second in Answer.allCases {
                for third in Answer.allCases {
                    let answers = [first, second, third]
                    let single = try await singleCourse(proof, answers, client)
                    let batch = try batchCourse(proof, answers, client)
                    #expect(single == batch, "\(answers)")
                    #expect(single.end == expectedEnd(proof, answers), "\(answers)")
                }
            }
        }
    }

    /// `siwa revoke`.
    private func singleCourse(
        _ proof: Revocation.Proof, _ answers: [Answer], _ client: Client
    ) async throws -> Course {
        let transport = ScriptedTransport(answers.map { .success($0.response) })
        let clocks = StillClock().clocks
        let tokens = TokenClient(
            client: client,
            delivery: Delivery(
                through: transport, policy: RetryPolicy(maxAttempts: 1),
                until: Deadline(after: .seconds(30), by: clocks.timekeeper), clocks: clocks))
        var course = Course()
        do throws(TokenFailure) {
            course.take(
                try await tokens.revoke(SecretText("r.1"), as: .refreshToken, proof: proof))
        } catch {
            switch error.cause {
            case .refused(let refusal): course.end = refusal.code.rawValue
            default: course.end = "trouble"
            }
        }
        course.sent = transport.sent.map(\.request.url)
        return course
    }

    /// `siwa batch revoke`. An item of the vault that is found half done is refreshed before.
    private func batchCourse(
        _ proof: Revocation.Proof, _ answers: [Answer], _ client: Client
    ) throws -> Course {
        var job = RevokeJob(
            client, isConfirming: [.afterwards, .beforeAndAfterwards].contains(proof))
        var item = TokenItem(
            RefreshToken(SecretText("r.1")), .usual, line: 1, id: "u1", clientID: client.clientID,
            isInDoubt: [.before, .beforeAndAfterwards].contains(proof))
        var course = Course()
        for answer in answers {
            let request = try job.request(for: &item, at: Example.now)
            course.sent.append(request.url)
            switch job.judged(answer.response, to: request, for: &item, at: Example.now) {
            case .next: continue
            case .finished(.done(let revocation)), .held(.done(let revocation)):
                course.take(revocation)
            case .finished(.refused(let refusal)), .held(.refused(let refusal)),
                .stop(.refused(let refusal)):
                course.end = refusal.code.rawValue
            case .stop, .trouble: course.end = "trouble"
            }
            break
        }
        return course
    }

    /// The contract's rules, written independently: status, whether it was active, evidence, the
    /// status of the refresh, Apple's request id; or the refusal's code.
    private func expectedEnd(_ proof: Revocation.Proof, _ answers: [Answer]) -> String {
        func failure(_ answer: Answer) -> String? {
            switch answer {
            case .worked: nil
            case .invalidGrant: "invalid_grant"
            case .invalidRequest: "invalid_request"
            case .invalidScope: "invalid_scope"
            case .invalidClient: "invalid_client"
            case .unknownError: "new_error"
            case .outage, .page: "trouble"
            }
        }
        var answers = answers[...]
        var worked = false
        if proof == .before || proof == .beforeAndAfterwards {
            let before = answers.removeFirst()
            if before == .invalidGrant {
                return "- false refresh_rejected 400 id of invalidGrant"
            }
            if let failure = failure(before) { return failure }
            worked = true
        }
        let active = worked ? "true" : "-"
        let revoke = answers.removeFirst()
        if let failure = failure(revoke) { return failure }
        guard proof == .afterwards || proof == .beforeAndAfterwards else {
            return "200 \(active) - - id of worked"
        }
        let after = answers.removeFirst()
        if after == .worked { return "200 \(active) refresh_accepted 200 id of worked" }
        if after == .invalidGrant || after == .invalidRequest && worked {
            let evidence = worked ? "refresh_accepted_then_rejected" : "refresh_rejected"
            return "200 \(active) \(evidence) 400 id of worked"
        }
        return failure(after) ?? "-"
    }
}
