import Foundation
import Glibc
import SIWAJOSE
import SIWATestSupport
import Testing

private let nginx: Executable? = ["/usr/sbin/nginx", "/usr/bin/nginx"]
    .first { (path: String) in access(path, X_OK) == 0 }.map { Executable(path: $0) }

/// The configuration of docs/server.md: Debian's nginx in front of the listener for Apple.
@Suite(
    .blocking, .enabled(if: nginx != nil, "nginx is not installed (Debian's nginx-light)"))
struct NginxTests {
    @Test func `nginx forwards notifications with the client's address`() async throws {
        let fixture = try await ServerFixture()
        let chain = try await TestChain(in: fixture.apple.folder)
        let server = try await fixture.serve([
            .init("notifications", ["listen": "127.0.0.1:0", "behind_proxy": true])
        ])
        let reserved = try ReservedPort()
        let proxy = try Self.start(
            in: fixture.apple.folder, chain, port: reserved.port,
            to: try server.place("notifications"))
        defer { proxy.signal(9) }
        let url = "https://localhost:\(reserved.port)/apple/notifications"
        try await eventually("nginx answers") {
            let errors = try proxy.errorsSoFar()
            try #require(!proxy.hasEnded, "\(errors)")
            return try await Self.post("{}", to: url, chain) == "400"
        }
        let checked = try await fixture.apple.siwa(
            "doctor", "--endpoint", url, "--emulator", fixture.apple.url, "--ca-file",
            chain.trusting("root.pem", fixture.apple.folder.path("apple/ca.pem")))
        #expect(checked.exitCode == 0, "\(checked)")
        #expect(try await fixture.inbox().count == 1)

        let fields = ["--interface", "127.0.0.5", "-H", "X-Forwarded-For: 192.0.2.6"]
        #expect(try await Self.post("{}", to: url, chain, fields) == "400")
        let logged = try server.log("request").last
        #expect(logged?["client"] == "127.0.0.5", "\(String(describing: logged))")
        let hidden = "https://localhost:\(reserved.port)/metrics"
        #expect(try await Self.post("{}", to: hidden, chain) == "404")
        let long = String(repeating: "a", count: 70_000)
        #expect(try await Self.post(long, to: url, chain) == "413")
    }

    /// The document's configuration, at a port and with files of this test.
    private static func start(
        in folder: TemporaryFolder, _ chain: TestChain, port: UInt16, to place: String
    ) throws -> RunningProgram {
        let document = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/server.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```nginx\n").dropFirst().first)
        var sites = try #require(block.components(separatedBy: "\n```").first)
        for (old, new) in [
            ("server 127.0.0.1:8765;", "server \(place);"),
            ("listen 443 ssl http2;", "listen 127.0.0.1:\(port) ssl http2 reuseport;"),
            ("listen [::]:443 ssl http2;", ""), ("app.example.com;", "localhost;"),
            ("/etc/ssl/app.example.com.pem", chain.full),
            ("/etc/ssl/private/app.example.com.key", chain.key),
        ] {
            try #require(sites.contains(old), "docs/server.md lacks \(old)")
            sites = sites.replacing(old, with: new)
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path("nginx-\($0)"));"
        }
        let path = try folder.write(
            "nginx.conf",
            """
            daemon off;
            master_process off;
            pid \(folder.path("nginx.pid"));
            error_log stderr;
            events {}
            http {
                access_log off;
                \(temporary.joined(separator: "\n    "))
            \(sites)
            }
            """)
        return try #require(nginx).start(
            Executable.Call(["-p", folder.path, "-c", path], limit: .seconds(300)))
    }

    /// The status that curl sees.
    private static func post(
        _ body: String, to url: String, _ chain: TestChain, _ options: [String] = []
    ) async throws -> String {
        let curl = try #require(Executable.installed("curl"))
        let sent = try await curl.run(
            Executable.Call(
                [
                    "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--cacert",
                    chain.trusting("root.pem"), "--data-binary", "@-", url,
                ] + options, input: .text(body)))
        return sent.output
    }
}
