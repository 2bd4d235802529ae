import Foundation
import SIWACrypto
import SIWAEmulatorServer
import SIWAHTTPServer
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite(.enabled(if: Executable.installed("curl") != nil, "curl is not installed")) struct TLSTests {
    private static let names: [ServerName] = [
        .host("appleid.apple.com"), .host("localhost"), .address("127.0.0.1"), .address("::1"),
    ]

    @Test(arguments: ["appleid.apple.com", "localhost", "127.0.0.1"])
    func `a client that trusts the authority connects`(_ name: String) async throws {
        try await serving { served, authority in
            let result = try await curl([
                "--cacert", authority, "--connect-to", "::127.0.0.1:\(served.port)",
                "https://\(name):\(served.port)/.well-known/openid-configuration",
            ])
            #expect(result.ending == .exit(0), "\(result)")
            let document = try JSON(text: result.output)
            let expected = "https://\(name):\(served.port)/auth/keys"
            #expect(document["jwks_uri"] == .string(expected))
        }
    }

    @Test(arguments: [
        ("another name", ["--connect-to", "example.com::127.0.0.1:"], 60),
        ("TLS 1.1", ["--tls-max", "1.1"], 35), ("TLS 1.2", ["--tls-max", "1.2"], 0),
    ])
    func `a client without the right authority or name cannot connect`(
        _ row: String, _ options: [String], _ expected: Int32
    ) async throws {
        try await serving { served, authority in
            let host = row == "another name" ? "example.com" : "localhost"
            let result = try await curl(
                ["--cacert", authority] + options + ["https://\(host):\(served.port)/"])
            #expect(result.ending == .exit(expected), "\(result)")
        }
    }

    @Test func `a client that does not know the authority refuses the connection`() async throws {
        try await serving { served, _ in
            let result = try await curl(["https://localhost:\(served.port)/"])
            #expect(result.ending == .exit(60), "\(result)")
        }
    }

    @Test func `a server without a valid certificate does not start`() async throws {
        let identity = TLSIdentity(certificate: "x", key: "y")
        await #expect(throws: ServerError.identity) {
            try await Served.run(identity: identity) { _ in }
        }
    }

    /// The client needs no TLS, because the server has no certificate before.
    @Test func `after a reload, a kept connection is closed after its next response`() async throws
    {
        let socket = try ListeningSocket.open(.anyLoopbackPort)
        let port = socket.port
        let server = try HTTPServer(socket) { _ in .now(ServerResponse(status: 204)) }
        let client = try RawClient(port: port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while client.receive()?.isEmpty == true { try await Task.sleep(for: .milliseconds(1)) }
        let (certificate, key, _) = try Self.identity()
        try server.reload(TLSIdentity(certificate: certificate, key: key))
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = client.readToEnd()
        #expect(answer.contains("204") && answer.contains("Connection: close"), "\(answer)")
        await server.stop()
    }

    @Test func `certificates report when they expire`() throws {
        let authority = try CertificateAuthority(
            name: "Test", permitting: Self.names, validity: 1000..<2000)
        let read = try Certificate(
            pemRepresentation: try authority.certificate.pemRepresentation())
        #expect(
            [999, 1001, 1999, 2001].map { read.isValid(atSecondsSinceEpoch: $0) }
                == [false, true, true, false])
        #expect(throws: OpenSSLError.self) { try Certificate(pemRepresentation: Array("x".utf8)) }
    }

    private func curl(_ arguments: [String]) async throws -> ProgramResult {
        try await #require(Executable.installed("curl")).run(.init(["-sS"] + arguments))
    }

    /// Serves with its own certificate; the authority's is in a file.
    private func serving(_ body: (Served, String) async throws -> Void) async throws {
        let (certificate, key, authority) = try Self.identity()
        let identity = TLSIdentity(certificate: certificate, key: key)
        let folder = try TemporaryFolder()
        let path = try folder.write("ca.pem", try authority.certificate.pemRepresentation())
        try await Served.run(identity: identity) { try await body($0, path) }
    }

    /// A certificate and its key, in PEM, and the authority that issued it.
    private static func identity() throws -> (String, String, CertificateAuthority) {
        let now = Int(Date().timeIntervalSince1970)
        let authority = try CertificateAuthority(
            name: "Test", permitting: names, validity: now - 60..<now + 3600)
        let key = try P256PrivateKey.generate()
        let certificate = try authority.issueServerCertificate(names: names, key: key)
        return (
            String(decoding: try certificate.pemRepresentation(), as: UTF8.self),
            String(decoding: try key.pemRepresentation().revealed(), as: UTF8.self), authority
        )
    }
}
