import SIWACrypto
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// What a server sends back of a batch's requests.
@Suite struct BatchSecrecyTests {
    private static let start = NumericDate(1_800_000_000)

    @Test(arguments: [false, true])
    func `a revocation's response that repeats the request discloses no secret`(
        _ isInDoubt: Bool
    ) throws {
        var job = RevokeJob(try Self.client(), isConfirming: false)
        try Self.expectNoSecrets(&job, isInDoubt: isInDoubt)
    }

    @Test func `a refresh's response that repeats the request discloses no secret`() throws {
        var job = RefreshJob(try Self.client())
        try Self.expectNoSecrets(&job)
    }

    private static func expectNoSecrets<Job: BatchJob, Answer>(
        _ job: inout Job, isInDoubt: Bool = false
    ) throws where Job.Item == TokenItem, Job.Outcome == ItemOutcome<Answer> {
        var item = TokenItem(
            RefreshToken(SecretText("r-the-token")), .usual, line: 1, id: "u1",
            clientID: ClientID(unchecked: "com.example.web"), isInDoubt: isInDoubt)
        let request = try job.request(for: &item, at: start)
        guard
            case .held(.refused(let error)) = job.judged(
                .echo(of: request), to: request, for: &item, at: start)
        else {
            Issue.record("it was not refused")
            return
        }
        let detail = try #require(error.detail)
        #expect(detail.contains("client_id=com.example.web&client_secret=(sha256:"))
        #expect(detail.contains("token=(sha256:") && !detail.contains("r-the-token"))
    }

    private static func client() throws -> Client {
        Client(
            teamID: TeamID(unchecked: "A1B2C3D4E5"),
            clientID: ClientID(unchecked: "com.example.app"),
            signingKey: SigningKey(
                try P256PrivateKey.generate(), id: KeyID(unchecked: "K1L2M3N4P5")))
    }
}

/// The engine's handling of a response before the job receives it.
enum EngineVerdict<Outcome: Sendable> {
    case finished(Outcome)
    case held(Outcome)
    case next
    case stop(TokenFailure.Cause)
    case trouble(TokenFailure.Cause)
}

extension BatchJob {
    /// Takes a response as ``BatchRun`` does.
    mutating func judged(
        _ response: HTTPResponse, to request: HTTPRequest, for item: inout Item,
        at now: NumericDate
    ) -> EngineVerdict<Outcome> {
        let sent = SentRequest(request, attempt: 1, at: .zero, trace: nil)
        let answer: ItemOutcome<Answer>
        switch sent.conclude(.success(response), at: .zero, read: { read($0, for: item) }) {
        case .success(let read): answer = .done(read)
        case .failure(.refused(let refusal)) where !refusal.code.concernsClient:
            answer = .refused(refusal)
        case .failure(let cause):
            return cause.scope == .client ? .stop(cause) : .trouble(cause)
        }
        switch conclude(answer, for: &item, at: now) {
        case .finished(let outcome), .aside(let outcome): return .finished(outcome)
        case .held(let outcome): return .held(outcome)
        case .next: return .next
        case .stop(let refusal): return .stop(.refused(refusal))
        }
    }
}

extension HTTPResponse {
    /// A refusal that quotes what it refuses.
    static func echo(of request: HTTPRequest) -> Self {
        let error: JSON = [
            "error": "invalid_request",
            "error_description": .string(SecretText(request.body).revealed()),
        ]
        return Self(status: 400, body: error.bytes)
    }
}
