import Foundation
import Glibc
import SIWACrypto
import SIWACurlTransport
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// Listeners with TLS, groups and profiles; what a drain waits for.
@Suite(.blocking) struct ListenerTests {
    /// Two authorities, and which of them a client of the listener has to trust.
    @Test func `SIGHUP reloads a certificate, and an invalid file keeps the old one`() async throws
    {
        let fixture = try await ServerFixture()
        let folder = fixture.apple.folder
        let (first, second) = (try Self.authority("first"), try Self.authority("second"))
        func install(_ authority: CertificateAuthority) throws {
            let identity = try TLSIdentity(authority, .address("127.0.0.1"))
            try folder.write("tls.pem", identity.certificate)
            try folder.write("tls.key", identity.key)
        }
        try install(first)
        let server = try await fixture.serve([
            .init("metrics", ["listen": "127.0.0.1:0", "tls": Self.tls(in: folder)])
        ])
        let url = "https://\(try server.place("metrics"))/healthz"
        func answers(_ authority: CertificateAuthority) async throws -> Bool {
            try await Self.answers(url, authority, in: folder)
        }
        #expect(try await answers(first))
        #expect(try await !answers(second))

        try install(second)
        try await Self.reload(server, 1, faults: 0)
        #expect(try await answers(second))
        #expect(try await !answers(first))

        try folder.write("tls.pem", "-----BEGIN CERTIFICATE-----\nnonsense\n")
        try await Self.reload(server, 2, faults: 1)
        #expect(try await answers(second))
        let said = try server.log("reload_failed").last?["message"]?.string ?? ""
        #expect(said.hasPrefix("server.metrics") && said.contains("certificate"), "\(said)")

        // The certificate of one pair, the key of another.
        try install(first)
        try folder.write("tls.key", TLSIdentity(second, .address("127.0.0.1")).key)
        try await Self.reload(server, 3, faults: 1)
        #expect(try await answers(second))
        #expect(try await server.stop().ending == .exit(0))
    }

    /// Reloads the settings, and waits until that was done `count` times.
    private static func reload(_ server: ServerProcess, _ count: Int, faults: Int) async throws {
        server.program.signal(SIGHUP)
        try await eventually("a reload") { try server.log("reloaded").count == count }
        #expect(try server.log("reloaded").last?["faults"] == .integer(faults))
    }

    private static func tls(in folder: TemporaryFolder) -> JSON {
        [
            "certificate": .string(folder.path("tls.pem")), "key": .string(folder.path("tls.key")),
        ]
    }

    /// Whether a client that trusts only this authority gets an answer.
    private static func answers(
        _ url: String, _ authority: CertificateAuthority, in folder: TemporaryFolder
    ) async throws -> Bool {
        let file = try folder.write("ca.pem", authority.certificate.pemRepresentation())
        let transport = try CurlTransport(authorityFile: file)
        let request = HTTPRequest(method: .get, url: url)
        return (try? await transport.send(request, timeout: .seconds(20)))?.status == 200
    }

    /// - Parameter seconds: when its certificates begin and end, from now.
    static func authority(
        _ name: String, valid seconds: Range<Int> = -3600..<3600 * 24 * 60
    ) throws -> CertificateAuthority {
        let now = Int(Date.now.timeIntervalSince1970)
        return try CertificateAuthority(
            name: name, permitting: [.address("127.0.0.1")],
            validity: now + seconds.lowerBound..<now + seconds.upperBound)
    }

    @Test func `a Unix socket has the configured group`() async throws {
        let fixture = try await ServerFixture()
        let path = fixture.apple.folder.path("api.sock")
        // Root may give it to any group, others to those that they are in.
        let other = Self.groups.first { $0 != getegid() }
        let group = geteuid() == 0 ? getgrnam("daemon").pointee.gr_gid : other ?? getegid()
        let name = String(cString: try #require(getgrgid(group)).pointee.gr_name)
        func listener(_ group: String) -> [JSON.Member] {
            [.init("api", ["listen": .string("unix:\(path)"), "group": .string(group)])]
        }
        let server = try await fixture.serve(listener(name))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_gid == group)
        #expect(status.st_mode & 0o7777 == 0o660)
        _ = try await server.stop()
        try fixture.configure(listener("no-such-group"))
        let refused = try await fixture.run("serve")
        #expect(refused.ending == .exit(3), "\(refused)")
        #expect(refused.errors.contains("to the group 'no-such-group': it does not exist"))
    }

    private static var groups: [gid_t] {
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(CInt(groups.count), &groups)
        return Array(groups.prefix(Int(max(count, 0))))
    }

    /// The answer comes after everything else would have been cut short. Nobody may be left to wait
    /// for an answer that never comes.
    @Test func `SIGTERM refuses connections, and stores the answer to a code that was sent`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        try await fixture.apple.post("faults", ["endpoint": "/auth/token", "delay": "12s"])
        let code = try await fixture.code(of: 1)
        let place = try server.place("api")
        let caller = Task {
            try await HTTPAnswer.of(
                HTTPAnswer.request(
                    "POST", "/v1/exchange", ["Content-Type: application/json"],
                    (["code": .string(code)] as JSON).text), at: place)
        }
        try await eventually("the code was sent") {
            try await fixture.apple.requests().count == 1
        }
        server.program.signal(SIGTERM)
        try await eventually("every listener refuses connections") {
            try ["notifications", "api", "metrics"].allSatisfy { name in
                let place = try server.place(name)
                return (try? ClientSocket(place)) == nil
            }
        }
        #expect(!server.program.hasEnded)
        let ended = try await server.program.result()
        #expect(ended.ending == .exit(0), "\(ended)")
        let stored = try fixture.vault.opened()[fixture.vault.user(1)]
        #expect(stored?.map(\.state) == [.active], "\(ended)")
        _ = try await caller.value
    }

    /// The target never answers, and Apple answers later than a service manager would wait.
    @Test func `ten seconds after SIGTERM, repeatable requests are cancelled`() async throws {
        let fixture = try await ServerFixture()
        _ = try await fixture.vault.store([1])
        let before = try await fixture.apple.requests().count
        try await RawServer.serving([.hold]) { application in
            try fixture.deliver(to: application.url + "/events")
            let server = try await fixture.serve()
            try await fixture.apple.post(
                "faults", ["endpoint": "/auth/token", "delay": "25s", "count": 2])
            _ = try await fixture.notify(
                "email-disabled", of: 1, at: try server.notificationURL)
            let place = try server.place("api")
            func call(_ path: String, _ body: JSON) -> Task<HTTPAnswer, any Error> {
                Task {
                    try await HTTPAnswer.of(
                        HTTPAnswer.request(
                            "POST", path, ["Content-Type: application/json"], body.text),
                        at: place)
                }
            }
            let id = JSON.string(fixture.vault.user(1).userID.rawValue)
            let calls = [
                call("/v1/refresh", ["user_id": id]),
                call("/v1/revoke", ["user_id": id, "wait": 0]),
            ]
            try await eventually("everything is in flight") {
                try await fixture.apple.requests().count == before + 2
                    && application.connectionCount == 1
            }
            #expect(try await server.stop().ending == .exit(0))
            // The shutdown waited for none of these.
            #expect(try server.log("delivery_failed").isEmpty)
            #expect(try server.log("revocation_ended").isEmpty)
            let paths = try server.log("request").compactMap { $0["path"]?.string }
            #expect(!paths.contains("/v1/refresh") && paths.contains("/v1/revoke"), "\(paths)")
            for call in calls { _ = try await call.value }
        }
    }

    @Test func `several profiles with one client need default_profile, which is then used`()
        async throws
    {
        let fixture = try await ServerFixture()
        let config = try JSON(try fixture.apple.folder.contents("apple/config.json"))
        let app = try #require(config["profiles"]?["app"])
        let wrong = try P256PrivateKey.generate().pemRepresentation().revealed()
        try fixture.apple.folder.write("apple/AuthKey_OTHERKEY00.p8", wrong)
        let other = JSON.object(
            try #require(app.members).filter { !["key_id", "private_key"].contains($0.name) } + [
                .init("key_id", "OTHERKEY00"), .init("private_key", "AuthKey_OTHERKEY00.p8"),
            ])
        func configure(_ standard: [JSON.Member]) throws {
            try fixture.apple.folder.write(
                "apple/server.json",
                JSON.object(
                    standard + [
                        .init("profiles", ["other": other, "app": app]),
                        .init("server", .object(fixture.listeners)),
                    ]
                ).text)
        }
        try configure([])
        for command in ["check", "serve"] {
            let refused = try await fixture.run(command)
            #expect(refused.ending == .exit(3), "\(refused)")
            #expect(
                refused.errors.contains("'other' and 'app' have the same client_id"), "\(refused)")
            #expect(refused.errors.contains("set default_profile"))
        }
        try configure([.init("default_profile", "app")])
        let server = try await fixture.serve()
        // Apple does not know the key of the first profile.
        let answer = try await server.api(
            "POST", "/v1/exchange",
            [
                "code": .string(try await fixture.code(of: 1)), "client_id": "com.example.app",
            ])
        #expect(answer.status == 200, "\(answer)")
    }
}
