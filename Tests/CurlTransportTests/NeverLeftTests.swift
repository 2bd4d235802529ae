import CurlTransport
import Lifecycle
import TestSupport
import Testing

/// The failures after which a single-use code is certainly still valid.
@Suite struct NeverLeftTests {
    @Test func `a name that does not exist`() async throws {
        let error = try await CurlTransport().failure(of: "https://siwa-test.invalid")
        #expect(error?.kind == .nameLookup)
        #expect(error?.requestMayHaveLeft == false)
    }

    @Test func `a port that refuses`() async throws {
        let port = try RefusedPort()
        let error = try await CurlTransport().failure(of: port.url)
        #expect(error?.kind == .connect)
        #expect(error?.requestMayHaveLeft == false)
    }

    @Test func `a port that does not answer`() async throws {
        let port = try SilentPort()
        let error = try await CurlTransport().failure(of: port.url, timeout: .milliseconds(300))
        #expect(error?.kind == .timeout)
        #expect(error?.requestMayHaveLeft == false)
    }

    @Test(arguments: [
        [Step.read(1), .write("HTTP/1.1 400 Bad Request\r\n\r\n"), .endSending],
        [.read(1), .close], [.read(1), .reset],
    ])
    func `a server without TLS`(_ steps: [Step]) async throws {
        try await RawServer.serving(steps) { server in
            let error = try await CurlTransport().failure(of: "https://127.0.0.1:\(server.port)")
            #expect(error?.kind == .tls, "\(error?.message ?? "")")
            #expect(error?.requestMayHaveLeft == false)
        }
    }

    @Test func `a handshake that does not end`() async throws {
        try await RawServer.serving([.hold]) { server in
            let error = try await CurlTransport().failure(
                of: "https://127.0.0.1:\(server.port)", timeout: .milliseconds(300))
            #expect(error?.kind == .timeout)
            #expect(error?.requestMayHaveLeft == false)
        }
    }

    @Test func `no time left`() async throws {
        try await RawServer.serving([.hold]) { server in
            let error = try await CurlTransport().failure(of: server.url, timeout: .zero)
            #expect(error?.kind == .timeout)
            #expect(error?.requestMayHaveLeft == false)
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `a request that was sent may have left`() async throws {
        try await RawServer.serving([.readRequest, .hold]) { server in
            let error = try await CurlTransport().failure(
                of: server.url, timeout: .seconds(3))
            #expect(error?.kind == .timeout)
            #expect(error?.requestMayHaveLeft == true)
        }
    }

    @Test func `a timeout of a month`() async throws {
        try await RawServer.serving([.readRequest, .answer(200), .hold]) { server in
            let answer = try await CurlTransport().post(server.url, timeout: .seconds(60 * 86_400))
            #expect(answer.status == 200)
        }
    }
}
