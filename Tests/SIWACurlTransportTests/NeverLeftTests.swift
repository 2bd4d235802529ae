import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Testing

/// The failures after which a single-use code is certainly still valid.
@Suite struct NeverLeftTests {
    @Test func `a request to an unknown host was not sent`() async throws {
        let error = try await CurlTransport().failure(of: "https://siwa-test.invalid")
        #expect(error?.kind == .nameLookup)
        #expect(error?.requestMayHaveLeft == false)
    }

    @Test func `a request to a port that refuses connections was not sent`() async throws {
        let port = try RefusedPort()
        let error = try await CurlTransport().failure(of: port.url)
        #expect(error?.kind == .connect)
        #expect(error?.requestMayHaveLeft == false)
    }

    @Test func `a request to a port that does not answer was not sent`() async throws {
        let port = try SilentPort()
        let error = try await CurlTransport().failure(of: port.url, timeout: .milliseconds(300))
        #expect(error?.kind == .timeout)
        #expect(error?.requestMayHaveLeft == false)
    }

    @Test(arguments: [
        [Step.read(1), .write("HTTP/1.1 400 Bad Request\r\n\r\n"), .endSending],
        [.read(1), .close], [.read(1), .reset],
    ])
    func `an https request to a server without TLS was not sent`(_ steps: [Step]) async throws {
        try await RawServer.serving(steps) { server in
            let error = try await CurlTransport().failure(of: "https://127.0.0.1:\(server.port)")
            #expect(error?.kind == .tls, "\(error?.message ?? "")")
            #expect(error?.requestMayHaveLeft == false)
        }
    }

    @Test func `a request whose handshake does not end was not sent`() async throws {
        try await RawServer.serving([.hold]) { server in
            let error = try await CurlTransport().failure(
                of: "https://127.0.0.1:\(server.port)", timeout: .milliseconds(300))
            #expect(error?.kind == .timeout)
            #expect(error?.requestMayHaveLeft == false)
        }
    }

    @Test func `a request with a timeout of zero was not sent`() async throws {
        try await RawServer.serving([.hold]) { server in
            let error = try await CurlTransport().failure(of: server.url, timeout: .zero)
            #expect(error?.kind == .timeout)
            #expect(error?.requestMayHaveLeft == false)
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `a request whose bytes were written may have been received`() async throws {
        try await RawServer.serving([.readRequest, .hold]) { server in
            let error = try await CurlTransport().failure(
                of: server.url, timeout: .seconds(15))
            #expect(error?.kind == .timeout)
            #expect(error?.requestMayHaveLeft == true)
        }
    }

    @Test func `a timeout of a month is accepted`() async throws {
        try await RawServer.serving([.readRequest, .answer(200), .hold]) { server in
            let answer = try await CurlTransport().post(server.url, timeout: .seconds(60 * 86_400))
            #expect(answer.status == 200)
        }
    }
}
