import CurlTransport
import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

/// The exact bytes a request consists of.
@Suite struct GoldenRequestTests {
    @Test func `a form is posted as HTTP 1.1 says, and nothing is added but Host and length`()
        async throws
    {
        try await RawServer.serving([.readRequest, .answer(200, "{}"), .endSending]) { server in
            let answer = try await CurlTransport().send(
                HTTPRequest(
                    method: .post, url: server.url + "/auth/token",
                    fields: [
                        HTTPField("Accept", "application/json"), HTTPField("User-Agent", "t/1"),
                    ],
                    body: SecretBytes("a=1&b=%2B".utf8)), timeout: .seconds(30))
            #expect(answer.status == 200)
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
}
