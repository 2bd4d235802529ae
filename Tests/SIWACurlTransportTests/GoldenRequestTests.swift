import SIWACrypto
import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Testing

/// The exact bytes a request consists of.
@Suite struct GoldenRequestTests {
    static let fields = [HTTPField("Accept", "application/json"), HTTPField("User-Agent", "t/1")]

    @Test func `a form is sent as recorded`() async throws {
        try await RawServer.serving([.readRequest, .answer(200, "{}"), .hold]) { server in
            let request = HTTPRequest(
                method: .post, url: server.url + "/auth/token",
                fields: Self.fields + [HTTPField("Content-Type", Form.contentType)],
                body: SecretBytes("a=1&b=%2B".utf8))
            _ = try await CurlTransport().send(request, timeout: .seconds(60))
            #expect(
                server.receivedText == """
                    POST /auth/token HTTP/1.1\r
                    Host: 127.0.0.1:\(server.port)\r
                    Accept: application/json\r
                    User-Agent: t/1\r
                    Content-Length: 9\r
                    Content-Type: application/x-www-form-urlencoded\r
                    \r
                    a=1&b=%2B
                    """)
        }
    }

    @Test func `a GET request is sent as recorded`() async throws {
        try await RawServer.serving([.readRequest, .answer(200, "{}"), .hold]) { server in
            let request = HTTPRequest(
                method: .get, url: server.url + "/auth/keys", fields: Self.fields)
            _ = try await CurlTransport().send(request, timeout: .seconds(60))
            #expect(
                server.receivedText == """
                    GET /auth/keys HTTP/1.1\r
                    Host: 127.0.0.1:\(server.port)\r
                    Accept: application/json\r
                    User-Agent: t/1\r
                    \r

                    """)
        }
    }

    @Test func `empty and arbitrary bodies are sent unchanged`() async throws {
        for body in [[], [0, 0xFF, 0x0A, 0]] as [[UInt8]] {
            try await RawServer.serving([.readHead, .read(body.count), .answer(200), .hold]) {
                server in
                let request = HTTPRequest(method: .post, url: server.url, body: SecretBytes(body))
                _ = try await CurlTransport().send(request, timeout: .seconds(60))
                #expect(server.receivedText.contains("Content-Length: \(body.count)\r\n"))
                #expect(server.received[0].suffix(body.count) == body[...])
            }
        }
    }

    @Test func `a body of two megabytes is sent without Expect: 100-continue`() async throws {
        let body = String(repeating: "x", count: 2 << 20)
        try await RawServer.serving([.readRequest, .answer(200), .hold]) { server in
            _ = try await CurlTransport().send(.form(to: server.url, body), timeout: .seconds(60))
            let request = try #require(server.requests.first)
            #expect(request.body == body)
            #expect(!request.head.lowercased().contains("expect"))
        }
    }
}
