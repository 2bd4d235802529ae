import Foundation
import SIWACrypto
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import siwa_emulator

/// What a client that trusts the emulator's `ca.pem` accepts, as OpenSSL sees it.
@Suite(.enabled(if: Executable.installed("openssl") != nil, "openssl is not installed"))
struct CertificateAuthorityTests {
    @Test(arguments: [ServerName.host("localhost"), .address("127.0.0.1"), .address("::1")])
    func `certificates that the emulator serves are accepted`(_ name: ServerName) async throws {
        #expect(try await verify([.host("appleid.apple.com"), name]).ending == .exit(0))
    }

    @Test(arguments: [
        ServerName.host("example.com"), .host("apple.com"), .host("appleid.apple.com.example.com"),
        .address("127.0.0.2"), .address("192.0.2.1"), .address("::2"),
    ])
    func `certificates for other names are refused`(_ name: ServerName) async throws {
        let result = try await verify([.host("appleid.apple.com"), name])
        #expect(result.ending == .exit(2), "\(result)")
        #expect(result.errors.contains("permitted subtree violation"), "\(result)")
    }

    @Test func `init creates an authority with critical name constraints`() async throws {
        let fixture = try await EmulatorFixture()
        let shown = try await openssl(
            "x509", "-in", "\(fixture.path)/ca.pem", "-noout", "-ext", "nameConstraints")
        let constraints = shown.output.split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(
            constraints == [
                "X509v3 Name Constraints: critical", "Permitted:", "DNS:appleid.apple.com",
                "DNS:account.apple.com", "DNS:localhost", "IP:127.0.0.1/255.255.255.255",
                "IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF",
            ], "\(shown)")
        let verified = try await openssl(
            "verify", "-x509_strict", "-CAfile", "\(fixture.path)/ca.pem",
            "\(fixture.path)/server.pem")
        #expect(verified.ending == .exit(0), "\(verified)")
    }

    @Test func `a new folder is served without a warning`() async throws {
        let server = try await EmulatorFixture().serve("--tls")
        server.program.signal(SIGTERM)
        #expect(try await server.program.result().errors.isEmpty)
    }

    /// Has an authority like the emulator's issue a certificate, and OpenSSL verify that.
    private func verify(_ names: [ServerName]) async throws -> ProgramResult {
        let now = Int(Date().timeIntervalSince1970)
        let authority = try CertificateAuthority(
            name: "Test", permitting: TLSFiles.serverNames, validity: now - 60..<now + 3600)
        let leaf = try authority.issueServerCertificate(
            names: names, key: try P256PrivateKey.generate())
        let folder = try TemporaryFolder()
        return try await openssl(
            "verify", "-CAfile",
            try folder.write("ca.pem", try authority.certificate.pemRepresentation()),
            try folder.write("leaf.pem", try leaf.pemRepresentation()))
    }

    private func openssl(_ arguments: String...) async throws -> ProgramResult {
        try await #require(Executable.installed("openssl")).run(.init(arguments))
    }
}
