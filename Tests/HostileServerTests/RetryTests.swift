import SIWALifecycle
import SIWATestSupport
import Testing

/// What is sent again, how often, and when siwa stops trying.
@Suite struct RetryTests {
    private let siwa: Siwa
    private let page = [Step].answering(503, "<html>down</html>", type: "text/html")

    init() throws { siwa = try Siwa() }

    @Test func `a refresh succeeds after two outage pages`() async throws {
        try await RawServer.serving(page, page, .answering(200, tokens)) { server in
            let result = try await siwa.run(siwa.refresh(server.url))
            #expect(result.ending == .exit(0), "\(result)")
            #expect(result.output.contains("\"access_token\": \"aACCESS\""), "\(result)")
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a refresh succeeds after a 429 with Retry-After`() async throws {
        let throttle = [Step].answering(429, "", fields: ["Retry-After: 1"])
        try await RawServer.serving(throttle, .answering(200, tokens)) { server in
            let result = try await siwa.run(siwa.refresh(server.url, "-v"))
            #expect(result.ending == .exit(0), "\(result)")
            #expect(result.errors.contains("waiting 1 s"), "\(result)")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a Retry-After longer than the remaining time ends the command immediately`()
        async throws
    {
        let throttle = [Step].answering(429, "", fields: ["Retry-After: 6000"])
        try await RawServer.serving(throttle) { server in
            var call = siwa.refresh(server.url, timeout: "1h")
            // Waiting for any of it would outlast this.
            call.limit = .seconds(60)
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(75), "\(result)")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `--max-attempts limits the attempts`() async throws {
        try await RawServer.serving(page) { server in
            let result = try await siwa.run(siwa.refresh(server.url, "--max-attempts", "2"))
            #expect(result.ending == .exit(75), "\(result)")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a code is sent once, after every answer`() async throws {
        for steps in [page, [.readRequest, .close], [.readRequest, .reset]] {
            try await RawServer.serving(steps) { server in
                let result = try await siwa.run(siwa.exchange(server.url))
                #expect([7, 75].contains(result.exitCode), "\(result)")
                #expect(server.requests.count == 1)
                #expect(server.requests.first?.parameter("code") == Siwa.code)
            }
        }
    }

    @Test func `a code whose response is lost has an unknown outcome`() async throws {
        try await RawServer.serving([.readRequest, .close]) { server in
            let result = try await siwa.run(siwa.exchange(server.url))
            #expect(result.ending == .exit(7), "\(result)")
            #expect(result.errors.hasPrefix("siwa: outcome_unknown: "), "\(result)")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a code that was never sent is tried again, and stays valid`() async throws {
        let port = try RefusedPort()
        let result = try await siwa.run(siwa.exchange(port.url, "-v", "--max-attempts", "3"))
        #expect(result.ending == .exit(75), "\(result)")
        #expect(result.errors.contains("attempt 3"), "\(result)")
        #expect(result.errors.contains("the code was not sent"), "\(result)")
    }

    @Test func `a request to a hanging server ends at the timeout`() async throws {
        try await RawServer.serving([.readRequest, .hold]) { server in
            // Long enough for a busy machine to start siwa and to send the request.
            async let refreshed = siwa.run(siwa.refresh(server.url, timeout: "20s"))
            async let exchanged = siwa.run(siwa.exchange(server.url, timeout: "20s"))
            let (refresh, exchange) = try await (refreshed, exchanged)
            #expect(refresh.ending == .exit(75), "\(refresh)")
            #expect(exchange.ending == .exit(7), "\(exchange)")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a connection that hangs before the request does not cause an unknown outcome`()
        async throws
    {
        let port = try SilentPort()
        let result = try await siwa.run(siwa.exchange(port.url, timeout: "1s"))
        #expect(result.ending == .exit(75), "\(result)")
    }
}
