import SIWATestSupport
import Testing

/// Secrets are sent only to the configured server.
@Suite struct SecrecyTests {
    private let siwa: Siwa

    init() throws { siwa = try Siwa() }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect to another host discloses nothing`(_ status: Int) async throws {
        try await RawServer.serving([.hold]) { other in
            let location = "Location: \(other.url)/auth/token"
            try await RawServer.serving(.answering(status, "", fields: [location])) { server in
                let result = try await siwa.run(siwa.exchange(server.url))
                #expect(result.ending == .exit(75), "\(result)")
                #expect(other.connectionCount == 0)
            }
        }
    }

    @Test func `a trace names what was sent, and masks the client_secret`() async throws {
        try await RawServer.serving(.answering(400, "{\"error\":\"invalid_client\"}")) { server in
            let result = try await siwa.run(
                siwa.exchange(
                    server.url, "-v", "--code-verifier", Siwa.verifier, "--nonce", Siwa.nonce))
            #expect(result.ending == .exit(4), "\(result)")
            let request = try #require(server.requests.first)
            let secret = try #require(request.parameter("client_secret"))
            #expect(request.parameter("code_verifier") == Siwa.verifier)
            #expect(result.errors.contains("POST \(server.url)/auth/token"), "\(result)")
            #expect(result.errors.contains("code_verifier"), "\(result)")
            for part in secret.split(separator: ".") {
                #expect(!result.errors.contains(part), "\(result)")
            }
        }
    }

    @Test func `a dry run sends nothing and shows no secret`() async throws {
        try await RawServer.serving([.hold]) { server in
            for call in [
                siwa.exchange(server.url, "--dry-run", "--code-verifier", Siwa.verifier),
                siwa.refresh(server.url, "--dry-run", "-v"),
            ] {
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(0), "\(result)")
                #expect(!result.output.contains("eyJ"), "\(result)")
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `plain http uses no proxy, even if the environment sets one`() async throws {
        try await RawServer.serving([.hold]) { proxy in
            try await RawServer.serving(.answering(200, tokens)) { server in
                var call = siwa.refresh(server.url)
                for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
                    call.environment[name] = proxy.url
                }
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(0), "\(result)")
                #expect(proxy.connectionCount == 0)
            }
        }
    }
}
