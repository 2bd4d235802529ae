import Foundation
import SIWACrypto
import SIWACurlTransport
import SIWALifecycle
import SIWASystem
import SIWATestSupport
import Testing

/// Certificates that must be trusted, and others that must not.
@Suite(.enabled(if: TLSServer.isAvailable, "needs the openssl command"))
struct TLSTests {
    let folder: TemporaryFolder
    let authority: CertificateAuthority
    let authorityFile: String

    init() throws {
        folder = try TemporaryFolder()
        authority = try .named("siwa test authority")
        authorityFile = try folder.write("ca.pem", authority.certificate.pemRepresentation())
    }

    @Test func `an added authority is trusted, by name and by address`() async throws {
        let identity = try TLSIdentity(authority, .host("localhost"), .address("127.0.0.1"))
        try await TLSServer.serving(identity) { server in
            for host in ["localhost", "127.0.0.1"] {
                let transport = try CurlTransport(authorityFile: authorityFile)
                let answer = try await transport.get(host, server)
                #expect(answer.body == Array("{}".utf8))
            }
        }
    }

    @Test func `a byte order mark before an authority is removed, with one file and with several`()
        async throws
    {
        let text = try authority.certificate.pemRepresentation()
        let marked = try folder.write("marked.pem", [0xEF, 0xBB, 0xBF] + text)
        let system = try folder.write(
            "system.pem",
            try CertificateAuthority.named("system").certificate.pemRepresentation())
        let empty = try TemporaryFolder()
        try await TLSServer.serving(TLSIdentity(authority, .host("localhost"))) { server in
            for variables in [["SSL_CERT_FILE": system], ["SSL_CERT_DIR": empty.path]] {
                let transport = try CurlTransport(
                    authorityFile: marked, variables: { variables[$0] })
                #expect(try await transport.get("localhost", server).status == 200)
            }
        }
    }

    @Test func `an added authority is trusted in addition to the system's`() async throws {
        let system = try CertificateAuthority.named("system")
        let systemFile = try folder.write("system.pem", system.certificate.pemRepresentation())
        for issuer in [system, authority] {
            try await TLSServer.serving(TLSIdentity(issuer, .host("localhost"))) { server in
                let transport = try CurlTransport(
                    authorityFile: authorityFile, variables: { ["SSL_CERT_FILE": systemFile][$0] })
                #expect(try await transport.get("localhost", server).status == 200)
            }
        }
    }

    @Test func `an added authority is trusted on after its file was removed`() async throws {
        let empty = try TemporaryFolder()
        let file = try folder.write("added.pem", authority.certificate.pemRepresentation())
        try await TLSServer.serving(TLSIdentity(authority, .host("localhost"))) { server in
            let transport = try CurlTransport(
                authorityFile: file, variables: { ["SSL_CERT_DIR": empty.path][$0] })
            try FileManager.default.removeItem(atPath: file)
            #expect(try await transport.get("localhost", server).status == 200)
        }
    }

    @Test func `a folder of hashed links is trusted together with an added file`() async throws {
        let system = try CertificateAuthority.named("system")
        let hashed = try TemporaryFolder()
        try hashed.write("system.pem", system.certificate.pemRepresentation())
        let openssl = try #require(Executable.installed("openssl"))
        #expect(try await openssl.run("rehash", hashed.path).ending == .exit(0))
        for issuer in [system, authority] {
            try await TLSServer.serving(TLSIdentity(issuer, .host("localhost"))) { server in
                let transport = try CurlTransport(
                    authorityFile: authorityFile, variables: { ["SSL_CERT_DIR": hashed.path][$0] })
                #expect(try await transport.get("localhost", server).status == 200)
            }
        }
    }

    @Test func `a certificate of another authority with the same name is refused`() async throws {
        let foreign = try CertificateAuthority.named("siwa test authority")
        try await refuses(TLSIdentity(foreign, .host("localhost")))
    }

    @Test func `without an added authority, a certificate of an unknown authority is refused`()
        async throws
    {
        try await refuses(TLSIdentity(authority, .host("localhost")), trusting: nil)
    }

    @Test func `a certificate for another host is refused`() async throws {
        try await refuses(TLSIdentity(authority, .host("appleid.apple.com")))
    }

    @Test(arguments: [-86_400 * 2..<(-86_400), 86_400..<86_400 * 2])
    func `a certificate outside its validity period is refused`(_ validity: Range<Int>) async throws
    {
        let authority = try CertificateAuthority.named("siwa test authority", validity)
        let file = try folder.write("other.pem", authority.certificate.pemRepresentation())
        try await refuses(TLSIdentity(authority, .host("localhost")), trusting: file)
    }

    @Test func `a server that supports only TLS 1.1 is refused`() async throws {
        let identity = try TLSIdentity(authority, .host("localhost"))
        let options = ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
        try await TLSServer.serving(identity, options) { server in
            let error = await CurlTransport.failure(authorityFile, server)
            #expect(error?.kind == .tls, "\(error?.message ?? "")")
            #expect(error?.requestMayHaveLeft == false)
        }
    }

    private func refuses(_ identity: TLSIdentity, trusting file: String?) async throws {
        try await TLSServer.serving(identity) { server in
            let error = await CurlTransport.failure(file, server)
            #expect(error?.kind == .certificate, "\(error?.message ?? "")")
            #expect(error?.requestMayHaveLeft == false)
        }
    }

    private func refuses(_ identity: TLSIdentity) async throws {
        try await refuses(identity, trusting: authorityFile)
    }
}

extension CertificateAuthority {
    /// An authority that is valid for these seconds around now.
    fileprivate static func named(
        _ name: String, _ validity: Range<Int> = -3600..<3600
    ) throws -> CertificateAuthority {
        let now = secondsSinceEpoch()
        return try CertificateAuthority(
            name: name,
            permitting: [
                .host("localhost"), .host("appleid.apple.com"), .address("127.0.0.1"),
            ], validity: now + validity.lowerBound..<now + validity.upperBound)
    }
}

extension CurlTransport {
    fileprivate func get(
        _ host: String, _ server: TLSServer
    ) async throws(TransportError) -> HTTPResponse {
        try await send(
            HTTPRequest(method: .get, url: "https://\(host):\(server.port)/answer"),
            timeout: .seconds(60))
    }

    fileprivate static func failure(
        _ authorityFile: String?, _ server: TLSServer
    ) async -> TransportError? {
        do throws(TransportError) {
            let transport = try CurlTransport(authorityFile: authorityFile)
            let answer = try await transport.get("localhost", server)
            Issue.record("answered \(answer.status)")
            return nil
        } catch {
            return error
        }
    }
}
