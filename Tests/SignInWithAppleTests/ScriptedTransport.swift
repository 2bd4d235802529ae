import SIWACrypto
import SIWADiagnosis
import SIWAJOSE
import SIWALifecycle
import Synchronization
import Testing

/// Answers from a list, and records the requests. A request after the last answer fails the test.
final class ScriptedTransport: Transport {
    struct Sent: Sendable {
        let request: HTTPRequest
        let timeout: Duration
        /// The form's parameters, decoded.
        let form: [(name: String, value: String)]

        subscript(name: String) -> String? { form.first { $0.name == name }?.value }
    }

    private let script: Mutex<[Result<HTTPResponse, TransportError>]>
    private let log = Mutex<[Sent]>([])

    init(_ script: [Result<HTTPResponse, TransportError>]) { self.script = Mutex(script) }

    var sent: [Sent] { log.withLock { $0 } }

    /// Whether every answer was asked for.
    var isExhausted: Bool { script.withLock { $0.isEmpty } }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let form = decoded(String(decoding: request.body.revealed(), as: UTF8.self))
        log.withLock { $0.append(Sent(request: request, timeout: timeout, form: form)) }
        let answer = script.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let answer else {
            Issue.record("one request too many: \(request.url)")
            throw TransportError(.unavailable, "no answer is left", requestMayHaveLeft: false)
        }
        return try answer.get()
    }

    private func decoded(_ body: String) -> [(name: String, value: String)] {
        body.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            return (plain(parts[0]), parts.count == 2 ? plain(parts[1]) : "(not one =)")
        }
    }

    private func plain(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Result<HTTPResponse, TransportError> {
    static func json(
        _ status: Int, _ body: String, _ fields: [HTTPField] = []
    ) -> Self {
        .success(
            HTTPResponse(
                status: status,
                fields: [HTTPField("Content-Type", "application/json;charset=UTF-8")] + fields,
                body: Array(body.utf8)))
    }

    /// What Apple's edge answers during an outage.
    static func page(_ status: Int, _ fields: [HTTPField] = []) -> Self {
        .success(
            HTTPResponse(
                status: status, fields: [HTTPField("Content-Type", "text/html")] + fields,
                body: Array("<html><head><title>\(status)</title></head></html>".utf8)))
    }

    static func failed(_ kind: TransportError.Kind, mayHaveLeft: Bool) -> Self {
        .failure(TransportError(kind, "it broke", requestMayHaveLeft: mayHaveLeft))
    }

    static let tokens = json(
        200,
        #"{"access_token":"a.1","token_type":"Bearer","expires_in":3600,"refresh_token":"r.1","id_token":"x.y.z"}"#
    )
    static let refreshed = json(
        200, #"{"access_token":"a.2","token_type":"Bearer","expires_in":3600}"#)
    static let invalidGrant = json(
        400, #"{"error":"invalid_grant","error_description":"The code has already been used."}"#)
    static let invalidRequest = json(400, #"{"error":"invalid_request"}"#)
    static let invalidClient = json(400, #"{"error":"invalid_client"}"#)
    static let nothing = Self.success(HTTPResponse(status: 200))
}

/// A clock that moves only while a task sleeps.
final class StillClock: Sendable {
    private let sleeps = Mutex<[Duration]>([])
    private let start: NumericDate

    init(at start: NumericDate = Example.now) { self.start = start }

    var slept: [Duration] { sleeps.withLock { $0 } }

    var elapsed: Duration { slept.reduce(.zero, +) }

    func advance(_ duration: Duration) { sleeps.withLock { $0.append(duration) } }

    var clocks: Clocks {
        Clocks(
            now: { self.start + self.elapsed },
            timekeeper: Timekeeper(elapsed: { self.elapsed }, sleep: { self.advance($0) }))
    }
}

/// One client, one script, one still clock.
struct ClientHarness {
    let transport: ScriptedTransport
    let clock = StillClock()
    let tokens: TokenClient
    let keys: KeySetClient
    let probe: Probe

    init(
        _ script: [Result<HTTPResponse, TransportError>], maxAttempts: Int = 4,
        timeout: Duration = .seconds(30), lifetime: Duration = .seconds(300)
    ) throws {
        transport = ScriptedTransport(script)
        let clocks = clock.clocks
        let delivery = Delivery(
            through: transport, policy: RetryPolicy(maxAttempts: maxAttempts),
            until: Deadline(after: timeout, by: clocks.timekeeper), clocks: clocks)
        tokens = TokenClient(client: try Example.client(lifetime: lifetime), delivery: delivery)
        keys = KeySetClient(delivery: delivery)
        probe = Probe(delivery: delivery)
    }

    func exchange() async throws(TokenFailure) -> TokenResponse {
        try await tokens.exchange(AuthorizationCode(SecretText("c.1")))
    }

    func refresh() async throws(TokenFailure) -> TokenResponse {
        try await tokens.refresh(RefreshToken(SecretText("r.1")))
    }
}

/// What a call fails with; nil, and an issue, when it does not.
func failure<Answer>(
    of call: () async throws(TokenFailure) -> Answer,
    sourceLocation: SourceLocation = #_sourceLocation
) async -> TokenFailure? {
    do {
        let answer = try await call()
        Issue.record("it did not fail: \(answer)", sourceLocation: sourceLocation)
        return nil
    } catch {
        return error
    }
}
