import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@Suite struct TokenClientTests {
    @Test func `an exchange sends the code and reads the tokens`() async throws {
        let harness = try ClientHarness([.tokens])
        let response = try await harness.exchange()
        #expect(response.refreshToken?.text.revealed() == "r.1")
        let sent = try #require(harness.transport.sent.first)
        #expect(sent.request.url == "https://appleid.apple.com/auth/token")
        #expect(sent.request.method == .post)
        #expect(!sent.request.isRepeatable, "libcurl must not repeat it either")
        #expect(sent["grant_type"] == "authorization_code" && sent["code"] == "c.1")
        #expect(sent["client_id"] == "com.example.app")
        #expect(sent.timeout == .seconds(30))
    }

    /// What can go wrong with a code on its way: how often it is sent, and what is known.
    struct Exchange: Sendable {
        let script: [Result<HTTPResponse, TransportError>]
        /// Whether the code may be spent although no answer says so; nil for success.
        let isOutcomeUnknown: Bool?
    }

    static let exchanges: [Row<Exchange>] = [
        Row(
            "cut after sending",
            Exchange(script: [.failed(.cut, mayHaveLeft: true)], isOutcomeUnknown: true)),
        Row(
            "timed out after sending",
            Exchange(script: [.failed(.timeout, mayHaveLeft: true)], isOutcomeUnknown: true)),
        Row(
            "no HTTP came back",
            Exchange(script: [.failed(.malformed, mayHaveLeft: true)], isOutcomeUnknown: true)),
        Row(
            "too large an answer",
            Exchange(script: [.failed(.tooLarge, mayHaveLeft: true)], isOutcomeUnknown: true)),
        Row(
            "cancelled after sending",
            Exchange(script: [.failed(.cancelled, mayHaveLeft: true)], isOutcomeUnknown: true)),
        Row("500", Exchange(script: [.page(500)], isOutcomeUnknown: true)),
        Row(
            "500 in JSON",
            Exchange(script: [.json(500, #"{"error":"server_error"}"#)], isOutcomeUnknown: true)),
        Row("502", Exchange(script: [.page(502)], isOutcomeUnknown: true)),
        Row("504", Exchange(script: [.page(504)], isOutcomeUnknown: true)),
        Row("520, a gateway's own", Exchange(script: [.page(520)], isOutcomeUnknown: true)),
        Row("404 with a page", Exchange(script: [.page(404)], isOutcomeUnknown: false)),
        Row("503", Exchange(script: [.page(503)], isOutcomeUnknown: false)),
        Row(
            "503 in JSON",
            Exchange(script: [.json(503, #"{"error":"x"}"#)], isOutcomeUnknown: false)),
        Row(
            "429",
            Exchange(script: [.page(429, [HTTPField("Retry-After", "0")])], isOutcomeUnknown: false)
        ),
        Row("408", Exchange(script: [.page(408)], isOutcomeUnknown: false)),
        Row("302 to a portal", Exchange(script: [.page(302)], isOutcomeUnknown: false)),
        Row("200 with a page", Exchange(script: [.page(200)], isOutcomeUnknown: true)),
        Row(
            "200 with an empty body", Exchange(script: [.json(200, "")], isOutcomeUnknown: true)),
        Row(
            "200 with broken JSON",
            Exchange(script: [.json(200, #"{"access_token":"a"#)], isOutcomeUnknown: true)),
        Row(
            "200 without an access token",
            Exchange(script: [.json(200, "{}")], isOutcomeUnknown: true)),
        Row("refused", Exchange(script: [.invalidGrant], isOutcomeUnknown: false)),
        Row("client refused", Exchange(script: [.invalidClient], isOutcomeUnknown: false)),
        Row(
            "no such host",
            Exchange(script: [.failed(.certificate, mayHaveLeft: false)], isOutcomeUnknown: false)),
        Row(
            "never left, then tokens",
            Exchange(
                script: [
                    .failed(.connect, mayHaveLeft: false), .failed(.nameLookup, mayHaveLeft: false),
                    .tokens,
                ],
                isOutcomeUnknown: nil)),
        Row(
            "never left, then cut",
            Exchange(
                script: [.failed(.tls, mayHaveLeft: false), .failed(.cut, mayHaveLeft: true)],
                isOutcomeUnknown: true)),
        Row(
            "never left, four times",
            Exchange(
                script: Array(repeating: .failed(.connect, mayHaveLeft: false), count: 4),
                isOutcomeUnknown: false)),
    ]

    @Test(arguments: exchanges) func `an exchange is sent once, and its outcome is reported`(
        _ row: Row<Exchange>
    ) async throws {
        let harness = try ClientHarness(row.value.script)
        if let isOutcomeUnknown = row.value.isOutcomeUnknown {
            let failure = await failure { () async throws(TokenFailure) in
                try await harness.exchange()
            }
            #expect(failure?.isOutcomeUnknown == isOutcomeUnknown)
            #expect(failure?.attempts == row.value.script.count)
            #expect(failure?.request == .exchange)
        } else {
            _ = try await harness.exchange()
        }
        #expect(harness.transport.isExhausted)
        #expect(harness.transport.sent.count == row.value.script.count)
    }

    @Test func `a refresh succeeds after two outages`() async throws {
        let harness = try ClientHarness([.page(503), .page(503), .refreshed])
        let response = try await harness.refresh()
        #expect(response.accessToken.text.revealed() == "a.2")
        #expect(response.refreshToken == nil)
        #expect(harness.transport.sent.count == 3)
        let slept = harness.clock.slept
        #expect(slept.count == 2)
        #expect(slept[0] < .milliseconds(400) && slept[1] < .milliseconds(800))
        #expect(harness.transport.sent.allSatisfy { $0.request.isRepeatable })
    }

    static let repeated: [Row<Result<HTTPResponse, TransportError>>] = [
        Row("cut", .failed(.cut, mayHaveLeft: true)),
        Row("timeout", .failed(.timeout, mayHaveLeft: true)),
        Row("no connection", .failed(.connect, mayHaveLeft: false)),
        Row("no such name", .failed(.nameLookup, mayHaveLeft: false)),
        Row("TLS", .failed(.tls, mayHaveLeft: false)),
        Row("proxy", .failed(.proxy, mayHaveLeft: false)),
        Row("no HTTP", .failed(.malformed, mayHaveLeft: true)), Row("500", .page(500)),
        Row("502", .page(502)), Row("504", .page(504)), Row("429", .page(429)),
        Row("408", .page(408)),
        Row("425", .page(425)),
        Row("500 with an OAuth error", .json(500, #"{"error":"server_error"}"#)),
        Row("429 with an OAuth error", .json(429, #"{"error":"slow_down"}"#)),
        Row("200 with a page", .page(200)), Row("200 with broken JSON", .json(200, "{")),
    ]

    @Test(arguments: repeated) func `a refresh is repeated after a temporary failure`(
        _ row: Row<Result<HTTPResponse, TransportError>>
    ) async throws {
        let harness = try ClientHarness([row.value, .refreshed])
        _ = try await harness.refresh()
        #expect(harness.transport.sent.count == 2)
    }

    static let final: [Row<Result<HTTPResponse, TransportError>>] = [
        Row("invalid_grant", .invalidGrant), Row("invalid_client", .invalidClient),
        Row("an unknown code", .json(400, #"{"error":"new"}"#)),
        Row("401", .json(401, #"{"error":"x"}"#)),
        Row("403 with a page", .page(403)), Row("404", .page(404)), Row("302", .page(302)),
        Row("200 with an OAuth error", .json(200, #"{"error":"invalid_grant"}"#)),
        Row("a bad certificate", .failed(.certificate, mayHaveLeft: false)),
        Row("too large", .failed(.tooLarge, mayHaveLeft: true)),
        Row("cancelled", .failed(.cancelled, mayHaveLeft: true)),
        Row("no libcurl", .failed(.unavailable, mayHaveLeft: false)),
    ]

    @Test(arguments: final) func `a refresh is not repeated after a final failure`(
        _ row: Row<Result<HTTPResponse, TransportError>>
    ) async throws {
        let harness = try ClientHarness([row.value])
        let failure = await failure { () async throws(TokenFailure) in try await harness.refresh() }
        #expect(failure?.attempts == 1)
        #expect(failure?.isOutcomeUnknown == false, "a refresh can be sent again")
        #expect(harness.clock.slept.isEmpty)
    }

    @Test(arguments: [1, 2, 3, 7]) func `the number of attempts is limited`(_ most: Int)
        async throws
    {
        let harness = try ClientHarness(
            Array(repeating: .page(503), count: most), maxAttempts: most, timeout: .seconds(600))
        let failure = await failure { () async throws(TokenFailure) in try await harness.refresh() }
        #expect(failure?.attempts == most)
        #expect(harness.transport.isExhausted)
    }

    @Test func `Retry-After in seconds is obeyed, and counts against the deadline`()
        async throws
    {
        let outage = Result<HTTPResponse, TransportError>.page(503, [HTTPField("Retry-After", "7")])
        let harness = try ClientHarness([outage, .refreshed])
        _ = try await harness.refresh()
        #expect(harness.clock.slept == [.seconds(7)])
        #expect(harness.transport.sent.map(\.timeout) == [.seconds(30), .seconds(23)])
    }

    @Test func `Retry-After as a date is obeyed`() async throws {
        let date = (Example.now + .seconds(12)).httpDate
        let harness = try ClientHarness([.page(429, [HTTPField("Retry-After", date)]), .refreshed])
        _ = try await harness.refresh()
        #expect(harness.clock.slept == [.seconds(12)])
    }

    @Test(arguments: ["30", "31", "9223372036854775807"])
    func `no attempt lasts beyond the deadline`(_ seconds: String) async throws {
        let harness = try ClientHarness([.page(503, [HTTPField("Retry-After", seconds)])])
        let failure = await failure { () async throws(TokenFailure) in try await harness.refresh() }
        #expect(failure?.attempts == 1)
        #expect(harness.clock.slept.isEmpty)
    }

    @Test func `each attempt sends a client_secret of its own time`() async throws {
        let outage = Result<HTTPResponse, TransportError>.page(503, [HTTPField("Retry-After", "9")])
        let harness = try ClientHarness([outage, outage, .refreshed], lifetime: .seconds(5))
        _ = try await harness.refresh()
        let expiries = try harness.transport.sent.map {
            try CompactJWS(try #require($0["client_secret"])).payload["exp"]?.integer
        }
        let now = Example.now.seconds
        #expect(expiries == [now + 5, now + 14, now + 23])
    }

    @Test func `a client_secret from a clock that was fast is replaced`() async throws {
        let harness = try ClientHarness([.refreshed, .refreshed])
        _ = try await harness.refresh()
        harness.clock.advance(.seconds(-3600))
        _ = try await harness.refresh()
        let issued = try harness.transport.sent.map {
            try CompactJWS(try #require($0["client_secret"])).payload["iat"]?.integer
        }
        let now = Example.now.seconds
        #expect(issued == [now - 60, now - 3660])
    }

    @Test func `a client_secret is used from its iat until shortly before its exp`() throws {
        let client = try Example.client(lifetime: .seconds(300))
        let secret = try client.mintedSecret(at: Example.now)
        let (begin, end) = (secret.issuedAt, secret.expiresAt)
        #expect(secret.isValid(at: begin, for: .zero))
        #expect(!secret.isValid(at: begin - .seconds(1), for: .zero))
        #expect(!secret.isValid(at: end, for: .zero))
        #expect(secret.isValid(at: end - .seconds(10), for: .seconds(10)))
        #expect(!secret.isValid(at: end - .seconds(9), for: .seconds(10)))
    }

    @Test func `if no client_secret can be minted, nothing is sent`() async throws {
        let harness = try ClientHarness([], lifetime: .seconds(15_777_001))
        let failure = await failure { () async throws(TokenFailure) in try await harness.exchange()
        }
        #expect(harness.transport.sent.isEmpty)
        #expect(failure?.isOutcomeUnknown == false)
        guard case .unminted(.tooLong) = failure?.cause else {
            Issue.record("another cause")
            return
        }
    }

    @Test func `a failure contains how far Apple's clock is ahead`() async throws {
        let date = HTTPField("Date", (Example.now - .seconds(90)).httpDate)
        let harness = try ClientHarness([.json(400, #"{"error":"invalid_client"}"#, [date])])
        let failure = await failure { () async throws(TokenFailure) in try await harness.refresh() }
        #expect(failure?.clockOffset == .seconds(-90))
        let mute = try ClientHarness([.failed(.cut, mayHaveLeft: true)], maxAttempts: 1)
        let silence = await SignInWithAppleTests.failure { () async throws(TokenFailure) in
            try await mute.refresh()
        }
        #expect(silence != nil && silence?.clockOffset == nil)
    }

    @Test func `a caller that is cancelled while waiting gets the last failure`() async throws {
        let transport = ScriptedTransport([.page(503)])
        let clocks = Clocks(
            now: { Example.now },
            timekeeper: Timekeeper(elapsed: { .zero }, sleep: { _ in throw CancellationError() }))
        let delivery = Delivery(
            through: transport, until: Deadline(after: .seconds(30), by: clocks.timekeeper),
            clocks: clocks)
        let tokens = TokenClient(client: try Example.client(), delivery: delivery)
        let failure = await failure { () async throws(TokenFailure) in
            try await tokens.refresh(RefreshToken(SecretText("r.1")))
        }
        #expect(failure?.attempts == 1)
    }

    @Test func `the trace names everything and shows no secret`() async throws {
        let lines = Mutex<[String]>([])
        let names = Mutex<[String]>([])
        let transport = ScriptedTransport([.page(503), .failed(.cut, mayHaveLeft: true), .tokens])
        let clocks = StillClock().clocks
        let delivery = Delivery(
            through: transport, until: Deadline(after: .seconds(30), by: clocks.timekeeper),
            clocks: clocks
        ) { event in
            lines.withLock { $0.append("\(event)") }
            if case .sending(let request, _) = event {
                names.withLock { $0 = request.parameterNames }
            }
        }
        let tokens = TokenClient(client: try Example.client(), delivery: delivery)
        _ = try await tokens.refresh(RefreshToken(SecretText("r.1-secret")))
        let traced = lines.withLock { $0 }
        let kinds = traced.map { String($0.prefix { $0 != "(" }) }
        #expect(
            kinds == [
                "sending", "answered", "waiting", "sending", "failed", "waiting", "sending",
                "answered",
            ])
        #expect(
            names.withLock { $0 } == [
                "client_id", "client_secret", "grant_type", "refresh_token",
            ])
        #expect(traced[0].contains("attempt: 1") && traced[6].contains("attempt: 3"))
        for line in traced {
            #expect(
                !line.contains("r.1") && !line.contains("eyJ") && !line.contains("a.1"), "\(line)")
        }
    }

    @Test func `the key set is fetched, and fetched again after an outage`() async throws {
        let keys = String(decoding: vector("jwks-2019-2022.json"), as: UTF8.self)
        let harness = try ClientHarness([.page(502), .json(200, #"{"keys":[]}"#), .json(200, keys)])
        let set = try await harness.keys.fetch().keySet
        #expect(set.keyIDs == ["AIDOPK1", "fh6Bs8C"])
        let sent = try #require(harness.transport.sent.first)
        #expect(sent.request.method == .get)
        #expect(sent.request.url == "https://appleid.apple.com/auth/keys")
        #expect(sent.request.body.count == 0)
    }
}
