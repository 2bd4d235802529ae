import SIWACrypto
import SIWASystem
import SIWATestSupport
import Testing

/// Proxies see the host that siwa connects to, but no contents.
@Suite(.enabled(if: TLSServer.isAvailable, "needs the openssl command"))
struct ProxyTests {
    private static let answer =
        "HTTP/1.1 200 OK\r\nContent-Length: \(tokens.utf8.count)\r\n\r\n\(tokens)"

    private let siwa: Siwa
    private let folder: TemporaryFolder
    private let identity: TLSIdentity

    init() throws {
        siwa = try Siwa()
        folder = try TemporaryFolder()
        let now = secondsSinceEpoch()
        let authority = try CertificateAuthority(
            name: "test", permitting: [.host("localhost")], validity: now - 3600..<now + 3600)
        try folder.write("ca.pem", authority.certificate.pemRepresentation())
        identity = try TLSIdentity(authority, .host("localhost"))
    }

    private func exchange(
        _ port: UInt16, through proxy: RawServer, timeout: String = "60s"
    ) -> Executable.Call {
        var call = siwa.exchange(
            "https://localhost:\(port)", "-v", "--ca-file", folder.path("ca.pem"),
            timeout: timeout)
        call.environment["HTTPS_PROXY"] = "http://user:RECOGNISABLE@127.0.0.1:\(proxy.port)"
        return call
    }

    @Test func `a request through HTTPS_PROXY is encrypted end to end`() async throws {
        let (_, received) = try await TLSServer.answeringOnce(identity, Self.answer) { server in
            let steps: [Step] = [
                .readHead, .write("HTTP/1.1 200 Connected\r\n\r\n"), .tunnel(port: server.port),
            ]
            try await RawServer.serving(steps) { proxy in
                let result = try await siwa.run(exchange(server.port, through: proxy))
                #expect(result.ending == .exit(0), "\(result)")
                #expect(!result.description.contains("RECOGNISABLE"), "\(result)")
                #expect(
                    proxy.receivedText.hasPrefix("CONNECT localhost:\(server.port) HTTP/1.1\r\n"))
                for secret in [Siwa.code, "client_secret", "authorization_code"] {
                    #expect(!proxy.receivedText.contains(secret))
                }
            }
        }
        #expect(received.contains("code=\(Siwa.code)"))
    }

    @Test func `a host in NO_PROXY is contacted directly`() async throws {
        let (_, received) = try await TLSServer.answeringOnce(identity, Self.answer) { server in
            try await RawServer.serving([.hold]) { proxy in
                var call = exchange(server.port, through: proxy)
                call.environment["NO_PROXY"] = "localhost"
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(0), "\(result)")
                #expect(proxy.connectionCount == 0)
            }
        }
        #expect(received.contains("code=\(Siwa.code)"))
    }

    @Test(arguments: [403, 407, 502])
    func `a code stays valid if a proxy refuses the connection`(_ status: Int) async throws {
        let steps: [Step] = [.readHead, .answer(status, "\u{1B}[2J no"), .endSending]
        try await RawServer.serving(steps) { proxy in
            var call = exchange(9, through: proxy)
            call.arguments += ["--max-attempts", "2"]
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(75), "\(result)")
            #expect(result.errors.contains("siwa: proxy: "), "\(result)")
            #expect(result.errors.contains("the code was not sent"), "\(result)")
            #expect(!result.description.contains("RECOGNISABLE"), "\(result)")
            #expect(proxy.connectionCount == 2)
        }
    }

    @Test(arguments: [
        [Step.hold], [.readHead, .hold], [.readHead, .close], [.readHead, .reset],
        [.readHead, .write("HTTP/1.1 200 Connected\r\n\r\n"), .close],
        [.readHead, .write("nonsense\r\n\r\n"), .close],
        [.readHead, .write("HTTP/1.1 200 Connected\r\n\r\n"), .hold],
        [.readHead, .write("HTTP/1.1 200 Connected\r\n"), .stream(Array("A: b\r\n".utf8))],
    ])
    func `a code stays valid if a proxy fails`(_ steps: [Step]) async throws {
        try await RawServer.serving(steps) { proxy in
            var call = exchange(9, through: proxy, timeout: "1s")
            call.arguments += ["--max-attempts", "1"]
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(75), "\(result)")
            #expect(result.errors.contains("the code was not sent"), "\(result)")
            #expect(!proxy.receivedText.contains(Siwa.code))
        }
    }
}
