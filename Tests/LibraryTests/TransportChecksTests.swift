import Foundation
import SIWACrypto
import SIWAEmulatorServer
import SIWAHTTPServer
import SIWATestSupport
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleEmulator
import Testing

/// The public check of transports finds what is wrong with them.
@Suite struct TransportChecksTests {
    @Test func `libcurl's transport passes all checks`() async throws {
        let identity = try Self.identity()
        try await Fixture.serving { fixture in
            try await EmulatorServer.serving(fixture.apple.emulator, identity: identity) { tls in
                let checks = try await TransportChecks.run(
                    CurlTransport(), emulator: fixture.url + "/", untrusted: tls.url)
                #expect(checks.count == 11 && checks.filter { $0.failure != nil } == [])
            }
        }
    }

    /// A certificate of an authority that nobody trusts.
    private static func identity() throws -> SIWAHTTPServer.TLSIdentity {
        let names: [ServerName] = [.host("localhost"), .address("127.0.0.1")]
        let now = Int(Date().timeIntervalSince1970)
        let authority = try CertificateAuthority(
            name: "test", permitting: names, validity: now - 3600..<now + 86_400)
        let key = try P256PrivateKey.generate()
        let certificate = try authority.issueServerCertificate(names: names, key: key)
        return SIWAHTTPServer.TLSIdentity(
            certificate: String(decoding: try certificate.pemRepresentation(), as: UTF8.self),
            key: String(decoding: try key.pemRepresentation().revealed(), as: UTF8.self))
    }

    @Test func `a transport that trusts any server fails the check of certificates`() async throws {
        try await Fixture.serving { fixture in
            // Without TLS there is nothing to refuse.
            let checks = try await TransportChecks.run(
                CurlTransport(), emulator: fixture.url, untrusted: fixture.url)
            #expect(checks.last?.failure == "it returned a response with status 200")
        }
    }

    @Test(arguments: FaultyTransport.Fault.allCases)
    func `a faulty transport fails the check of its fault`(
        _ fault: FaultyTransport.Fault
    ) async throws {
        try await Fixture.serving { fixture in
            let transport = FaultyTransport(try CurlTransport(), fault)
            let checks = try await TransportChecks.run(transport, emulator: fixture.url)
            let failed = checks.filter { $0.failure != nil }.map(\.name)
            #expect(failed.contains(fault.rawValue), "\(failed)")
        }
    }

    @Test func `without an emulator, nothing is checked`() async throws {
        await #expect(throws: EmulatorError.self) {
            try await TransportChecks.run(CurlTransport(), emulator: "http://127.0.0.1:1")
        }
    }
}

/// A transport with one fault, over one that has none.
struct FaultyTransport: SignInWithApple.Transport {
    /// Each is the name of the check that must find it.
    enum Fault: String, CaseIterable {
        case noFields = "returns status, header fields and body"
        case noBody = "sends method, header fields and body unchanged"
        case repeating = "returns a response with any status, and does not repeat it"
        case following = "follows no redirect"
        case sendingTwice = "sends nothing twice when a used connection ends"
        case acceptingLess = "throws if a response is not complete"
        case answeringAlways = "throws if nobody listens"
    }

    private let base: CurlTransport
    private let fault: Fault

    init(_ base: CurlTransport, _ fault: Fault) { (self.base, self.fault) = (base, fault) }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        // The check controls the emulator over the same transport.
        guard request.url.contains("/auth/") else { return try await base.send(request) }
        switch fault {
        case .noFields:
            let response = try await base.send(request)
            return TransportResponse(status: response.status, body: response.body)
        case .noBody:
            return try await base.send(
                TransportRequest(
                    method: request.method, url: request.url, headers: request.headers,
                    timeout: request.timeout))
        case .repeating:
            let response = try await base.send(request)
            return response.status >= 500 ? try await base.send(request) : response
        case .following:
            let response = try await base.send(request)
            let location = response.headers.first { $0.name.lowercased() == "location" }
            guard let location else { return response }
            return try await base.send(TransportRequest(url: location.value))
        case .sendingTwice:
            do {
                return try await base.send(request)
            } catch {
                return try await base.send(request)
            }
        case .acceptingLess, .answeringAlways:
            do {
                return try await base.send(request)
            } catch {
                return TransportResponse(status: 200)
            }
        }
    }
}
