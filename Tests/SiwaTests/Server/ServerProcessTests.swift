import Foundation
import Glibc
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The process around the server: starting, settings, signals, the service manager.
@Suite struct ServerProcessTests {
    @Test func `each listener serves only its own paths`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        #expect(try await server.call("metrics", "GET", "/healthz").body == "ok\n")
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        let page = try await server.call("metrics", "GET", "/")
        #expect(page.status == 200 && page.body.hasPrefix("<!DOCTYPE html>"))
        #expect(page["Content-Security-Policy"] != nil)
        #expect(try await server.call("metrics", "POST", "/apple/notifications").status == 404)
        #expect(try await server.call("metrics", "GET", "/v1/events").status == 404)
        #expect(try await server.call("api", "GET", "/metrics").status == 404)
        let head = try await server.call("metrics", "HEAD", "/healthz")
        #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == "3")
        let wrong = try await server.call("metrics", "POST", "/healthz", body: "x")
        #expect(wrong.status == 405 && wrong["Allow"] == "GET, HEAD")
        #expect(wrong["Content-Type"] == "application/problem+json")
        #expect(try JSON(text: wrong.body)["code"] == "method_not_allowed")
    }

    @Test func `readyz reports that a client_secret has expired`() async throws {
        let fixture = try await ServerFixture()
        let folder = fixture.apple.folder
        let config = try JSON(try folder.contents("apple/config.json"))
        let app = try #require(config["profiles"]?["app"]?.members)
        let given =
            app.filter { !["private_key", "key_id"].contains($0.name) }
            + [.init("client_secret_file", "given.secret")]
        let settings: JSON = [
            "profiles": ["app": .object(given)], "server": .object(fixture.listeners),
        ]
        try folder.write("apple/server.json", settings.text)
        // Long enough for the server to start.
        let secret = try await fixture.apple.siwa("secret", "--lifetime", "20s")
        try folder.write("apple/given.secret", secret.output)
        let server = try await fixture.serve()
        try await eventually("it has expired") {
            try await server.call("metrics", "GET", "/readyz").status == 503
        }
        let text = try await server.call("metrics", "GET", "/readyz").body
        #expect(text.contains("the client_secret expired at 20"), "\(text)")
        #expect(typeNames(in: text) == [])
    }

    @Test func `every metric family is announced from the start, with the routes as labels`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        for path in ["/a", "/b/c?d=e", "/%00", "/%zz"] {
            _ = try await server.call("notifications", "GET", path)
        }
        let text = try await server.call("metrics", "GET", "/metrics").body
        for family in [
            "siwa_http_requests_total", "siwa_http_request_duration_seconds",
            "siwa_notifications_total", "siwa_inbox_events", "siwa_inbox_oldest_pending_seconds",
            "siwa_revocations", "siwa_revocations_given_up",
            "siwa_revocation_oldest_pending_seconds",
            "siwa_apple_requests_total", "siwa_apple_request_duration_seconds",
            "siwa_client_secret_expires_at_seconds", "siwa_vault_tokens",
            "siwa_key_set_age_seconds", "siwa_clock_skew_seconds", "siwa_build_info",
        ] { #expect(text.contains("# TYPE \(family) "), "\(family)") }
        let name = "siwa_http_requests_total{listener=\"notifications\",path=\"other\",status="
        #expect(text.contains("\(name)\"404\"} 2\n") && text.contains("\(name)\"400\"} 2\n"))
    }

    @Test func `a valid request id is returned, and an invalid one is replaced`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let given = try await server.call(
            "metrics", "GET", "/healthz", ["X-Request-Id: abc-1.2_Z"])
        #expect(given["X-Request-Id"] == "abc-1.2_Z")
        let bad = try await server.call("metrics", "GET", "/healthz", ["X-Request-Id: a b"])
        #expect(bad["X-Request-Id"]?.wholeMatch(of: /[0-9a-v]{13}/) != nil)
        let long = String(repeating: "a", count: 129)
        let replaced = try await server.call(
            "metrics", "GET", "/healthz", ["X-Request-Id: \(long)"])
        #expect(replaced["X-Request-Id"]?.wholeMatch(of: /[0-9a-v]{13}/) != nil)
    }

    @Test func `check reports whether serve would start`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure(fixture.listeners)
        let good = try await fixture.run("check")
        #expect(good.ending == .exit(0), "\(good)")
        #expect(good.output.contains("vault: the tables of siwa-server will be created"))
        let rows: [([JSON.Member], String)] = [
            ([.init("apii", [:])], "server has an unknown member 'apii'"),
            ([.init("api", ["listen": "1.2.3.4"])], "server.api.listen '1.2.3.4' is not"),
            ([.init("api", [:])], "server.api.listen is not set"),
            ([.init("keep", "soon")], "server.keep 'soon' is not"),
            (
                [.init("deliver", ["url": "http://example.com/", "secret_file": "x"])],
                "server.deliver.url must be https"
            ),
            (
                [.init("deliver", ["url": "https://example.com/", "secret_file": "none"])],
                "server.deliver.secret_file"
            ),
            ([.init("log_user_ids", 1)], "server.log_user_ids must be true or false"),
            (
                [
                    .init(
                        "deliver",
                        [
                            "url": "https://example.com/", "secret_file": "webhook.secret",
                            "ca_file": "none.pem",
                        ])
                ], "server.deliver.ca_file"
            ),
            ([.init("metrics", ["listen": "0.0.0.0:0"])], "neither on loopback nor protected"),
            ([.init("metrics", ["listen": "1.2.3.4.5:0"])], "'1.2.3.4.5' is not an IP address"),
            (
                [
                    .init(
                        "metrics",
                        [
                            "listen": "127.0.0.1:0",
                            "tls": ["certificate": "junk.pem", "key": "junk.pem"],
                        ])
                ], "server.metrics.tls: the certificate and the private key cannot be used"
            ),
        ]
        try fixture.apple.folder.write("apple/webhook.secret", Self.webhookSecret)
        try fixture.apple.folder.write("apple/junk.pem", "junk")
        for (settings, words) in rows {
            try fixture.configure(settings)
            let bad = try await fixture.run("check")
            #expect(bad.ending == .exit(3) && bad.errors.contains(words), "\(words): \(bad)")
        }
        try fixture.configure(fixture.listeners)
        let down = try await fixture.run(
            "check", environment: ["SIWA_VAULT_URL": "postgresql://127.0.0.1:1/siwa"])
        #expect(down.ending == .exit(75), "\(down)")
        try fixture.configure([
            .init(
                "deliver", ["url": "https://example.com/", "secret_file": "webhook.secret"])
        ])
        let useless = try await fixture.run("check")
        #expect(useless.ending == .exit(0), "\(useless)")
        #expect(useless.errors.contains("warning: no listener is opened"), "\(useless)")
    }

    private static let webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"

    @Test func `a reload reports unusable keys and authorities, and a changed vault`()
        async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        let folder = fixture.apple.folder
        try folder.write("apple/webhook.secret", Self.webhookSecret)
        func configure(_ vault: String, _ authorities: String? = nil) throws {
            let file = try JSON(try folder.contents("apple/config.json"))
            let deliver: [JSON.Member] =
                [
                    .init("url", "https://example.com/"),
                    .init("secret_file", "webhook.secret"),
                ] + (authorities.map { [.init("ca_file", .string($0))] } ?? [])
            let members: [JSON.Member] = [
                .init("vault", ["url": .string("sqlite:" + folder.path(vault))]),
                .init("server", .object(fixture.listeners + [.init("deliver", .object(deliver))])),
            ]
            try folder.write(
                "apple/server.json", JSON.object((file.members ?? []) + members).text)
        }
        let key = String(decoding: try folder.contents("vault.key"), as: UTF8.self)
        try configure("vault.db")
        chmod(folder.path("vault.key"), 0o644)
        let server = try await fixture.serve(environment: ["SIWA_VAULT_URL": ""])
        func reload(_ count: Int, faults: Int, _ words: String?) async throws {
            server.program.signal(SIGHUP)
            try await eventually("a reload") { try server.log("reloaded").count == count }
            #expect(try server.log("reloaded").last?["faults"] == .integer(faults), "\(count)")
            guard let words else { return }
            let said = try server.log("reload_failed").last?["message"]?.string ?? ""
            #expect(said.contains(words), "\(said)")
        }
        try await reload(1, faults: 0, nil)
        #expect(try server.log("restart_needed").isEmpty)
        try folder.write("vault.key", "junk")
        try await reload(2, faults: 1, "key")
        try folder.write("vault.key", key)
        try configure("vault.db", folder.path("none.pem"))
        try await reload(3, faults: 1, "server.deliver.ca_file")
        #expect(try server.log("restart_needed").isEmpty)
        try configure("other.db")
        try await reload(4, faults: 0, nil)
        #expect(try server.log("restart_needed").count == 1)
        let ended = try await server.stop()
        for line in ended.errors.split(separator: "\n") {
            #expect((try? JSON(text: String(line))) != nil, "\(line)")
        }
        #expect(ended.errors.contains("can be read by others"), "\(ended)")
    }

    @Test func `a damaged API token is named, and the others work`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        try fixture.configure([.init("api", ["listen": "127.0.0.1:0"])])
        var tokens: [String] = []
        for name in ["good", "odd"] {
            let added = try await fixture.run("token", "add", name, "--scope", "read")
            tokens.append(added.output.trimmingCharacters(in: .newlines))
        }
        try fixture.vault.run("UPDATE api_token SET scopes = 'root' WHERE name = 'odd'")
        let listed = try await fixture.run("token", "list")
        #expect(listed.ending == .exit(3) && listed.output.contains("\"good\""), "\(listed)")
        #expect(listed.errors.contains("API token 'odd' is damaged"), "\(listed)")
        let server = try await fixture.serve()
        for (token, status) in zip(tokens, [200, 401]) {
            let bearer = ["Authorization: Bearer \(token)"]
            #expect(try await server.call("api", "GET", "/v1/events", bearer).status == status)
        }
        #expect(try server.log("row_damaged").count == 1)
    }

    @Test func `a public address needs TLS or a proxy`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure([.init("metrics", ["listen": "0.0.0.0:0"])])
        let refused = try await fixture.run("serve")
        #expect(refused.ending == .exit(3) && refused.errors.contains("behind_proxy"))
        let server = try await fixture.serve([
            .init("metrics", ["listen": "0.0.0.0:0", "behind_proxy": true])
        ])
        _ = try await server.call(
            "metrics", "GET", "/nowhere", ["X-Forwarded-For: 6.6.6.6, 192.0.2.7"])
        #expect(try server.log("request").last?["client"] == "192.0.2.7")
        // As HAProxy does it.
        _ = try await server.call(
            "metrics", "GET", "/nowhere",
            ["X-Forwarded-For: 6.6.6.6, 7.7.7.7", "X-Forwarded-For:\t192.0.2.8 "])
        #expect(try server.log("request").last?["client"] == "192.0.2.8")
    }

    @Test func `a missing vault and a second process lead to exit 3`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure([.init("metrics", ["listen": "127.0.0.1:0"])])
        let missing = try await fixture.run(
            "serve",
            environment: ["SIWA_VAULT_URL": "sqlite:" + fixture.apple.folder.path("none.db")])
        #expect(missing.ending == .exit(3) && missing.errors.contains("siwa vault init"))
        let server = try await fixture.serve()
        let second = try await fixture.run("serve")
        #expect(second.ending == .exit(3), "\(second)")
        #expect(second.errors.contains("another siwa-server uses the vault"))
        let link = fixture.apple.folder.path("link.db")
        let file = try #require(fixture.vault.environment["SIWA_VAULT_URL"]).dropFirst(7)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: String(file))
        let linked = try await fixture.run(
            "serve", environment: ["SIWA_VAULT_URL": "sqlite:" + link])
        #expect(linked.ending == .exit(3), "\(linked)")
        #expect(try await server.stop().ending == .exit(0))
        let third = try await fixture.serve()
        #expect(try await third.stop().ending == .exit(0))
    }

    @Test func `a socket file is accessible to owner and group, and replaced only if unused`()
        async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        let path = fixture.apple.folder.path("api.sock")
        let server = try await fixture.serve(fixture.listeners)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o660)
        let other = try await ServerFixture()
        try other.configure([.init("api", ["listen": .string("unix:\(path)")])])
        let refused = try await other.run("serve")
        #expect(refused.ending == .exit(3) && refused.errors.contains("another process listens"))
        try await server.kill()
        #expect(stat(path, &status) == 0)
        let again = try await fixture.serve()
        #expect(try await again.call("api", "GET", "/").status == 200)
        _ = try await again.stop()
        #expect(stat(path, &status) == -1)
        try fixture.apple.folder.write("api.sock", "not a socket")
        let kept = try await fixture.run("serve")
        #expect(kept.ending == .exit(3), "\(kept)")
        #expect(kept.errors.contains("a file with this path exists already"))
    }

    @Test func `without settings, the server listens on loopback and in the runtime folder`()
        async throws
    {
        let fixture = try await ServerFixture()
        let folder = try TemporaryFolder()
        let config = try fixture.apple.folder.contents("apple/config.json")
        try fixture.apple.folder.write("apple/server.json", config)
        let checked = try await fixture.run(
            "check", environment: ["RUNTIME_DIRECTORY": folder.path])
        #expect(checked.output.contains("listeners: notifications, api, metrics"), "\(checked)")
        let refused = try await fixture.run("check")
        #expect(refused.ending == .exit(3) && refused.errors.contains("RUNTIME_DIRECTORY"))
        // The usual ports may be in use here; the folder is made before.
        _ = try await fixture.run("token", "list")
        let program = try Executable.product("siwa-server").start(
            Executable.Call(
                ["serve"],
                environment: fixture.environment.merging(["XDG_RUNTIME_DIR": folder.path]) { $1 },
                limit: .seconds(120)))
        try await eventually("it serves, or a port is in use") {
            try program.errorsSoFar().contains("\n")
        }
        program.signal(SIGTERM)
        let ended = try await program.result()
        let isServing = FileManager.default.fileExists(atPath: folder.path("siwa"))
        #expect(isServing || ended.errors.contains("is in use"), "\(ended)")
    }

    @Test func `SIGHUP reloads the settings, and keeps the old ones if the new ones are invalid`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let config = try fixture.apple.folder.contents("apple/server.json")
        let rows: [(text: String, faults: Int)] = [
            ("{", 1), (String(decoding: config, as: UTF8.self), 0),
        ]
        for (index, row) in rows.enumerated() {
            try fixture.apple.folder.write("apple/server.json", row.text)
            server.program.signal(SIGHUP)
            try await eventually("a reload") { try server.log("reloaded").count == index + 1 }
            #expect(try server.log("reloaded").last?["faults"] == .integer(row.faults))
            let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
            #expect(try await server.post(body).status == 200)
        }
        #expect(try server.log("reload_failed").count == 1)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `SIGHUP reloads the team, also for client secrets of callers`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let config = try fixture.apple.folder.contents("apple/server.json")
        func issuer() async throws -> String? {
            let answer = try await server.call("api", "GET", "/v1/secret", ["Accept: text/plain"])
            return try CompactJWS(Array(answer.body.utf8)).claims[.iss]?.string
        }
        let team = try #require(try await issuer())
        try fixture.apple.folder.write(
            "apple/server.json",
            String(decoding: config, as: UTF8.self)
                .replacingOccurrences(of: team, with: "A1B2C3D4E5"))
        server.program.signal(SIGHUP)
        try await eventually("a reload") { try server.log("reloaded").count == 1 }
        #expect(try await issuer() == "A1B2C3D4E5")
    }

    @Test func `the service manager is notified of start, watchdog, reload and end`() async throws {
        let fixture = try await ServerFixture()
        let manager = try NotifySocket(in: fixture.apple.folder)
        let server = try await fixture.serve(
            fixture.listeners,
            environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"])
        try await manager.wait(for: "READY=1")
        try await manager.wait(for: "WATCHDOG=1", count: 3)
        server.program.signal(SIGHUP)
        try await manager.wait(for: "RELOADING=1\nMONOTONIC_USEC=")
        try await manager.wait(for: "READY=1", count: 2)
        server.program.signal(SIGTERM)
        try await manager.wait(for: "STOPPING=1")
        #expect(try await server.program.result().ending == .exit(0))
    }

    @Test func `a socket of the service manager is used by its name`() async throws {
        let fixture = try await ServerFixture()
        let listening = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(listening) }
        try #require(listen(listening, 16) == 0)
        try fixture.configure([
            .init("notifications", ["listen": "systemd:apple", "behind_proxy": true])
        ])
        let binary = try Executable.product("siwa-server").path
        let script = "LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=$1 exec \(binary) serve"
        func start(_ name: String) throws -> RunningProgram {
            try Executable(path: "/bin/sh").start(
                Executable.Call(
                    ["-c", script, "sh", name], environment: fixture.environment,
                    limit: .seconds(300)), passingSockets: [listening])
        }
        let wrong = try await start("other").result()
        #expect(wrong.ending == .exit(3) && wrong.errors.contains("FileDescriptorName=apple"))
        let server = try await ServerProcess(try start("apple"))
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        #expect(try await server.post(body).status == 200)
        _ = try await server.stop()
        // The socket remains: connections wait for the next start.
        let next = try await ServerProcess(try start("apple"))
        #expect(try await next.post(body).status == 200)
    }

    @Test func `API tokens are added, listed and removed`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure([.init("api", ["listen": "127.0.0.1:0"])])
        let added = try await fixture.run("token", "add", "web", "--scope", "read")
        #expect(added.ending == .exit(0) && added.output.hasPrefix("siwa_"), "\(added)")
        let token = added.output.trimmingCharacters(in: .newlines)
        #expect(token.count == 5 + 43)
        let twice = try await fixture.run("token", "add", "web", "--scope", "read")
        #expect(twice.ending == .exit(1))
        let list = try JSON(text: try await fixture.run("token", "list").output)
        #expect(list["name"] == "web" && list["scopes"] == ["read"] && list["expires_at"] == .null)
        let server = try await fixture.serve()
        let bearer = ["Authorization: Bearer \(token)"]
        #expect(try await server.call("api", "GET", "/", bearer).status == 200)
        let without = try await server.call("api", "GET", "/")
        #expect(without.status == 401 && without["WWW-Authenticate"] != nil)
        #expect(try await server.call("api", "GET", "/", [bearer[0] + "x"]).status == 401)
        #expect(try await fixture.run("token", "remove", "web").ending == .exit(0))
        #expect(try await fixture.run("token", "remove", "web").ending == .exit(1))
        try await eventually("the token is refused") {
            try await server.call("api", "GET", "/", bearer).status == 401
        }
    }

    @Test func `webhook-secret creates a file for its owner, and overwrites none`() async throws {
        let fixture = try await ServerFixture()
        let path = fixture.apple.folder.path("webhook.secret")
        #expect(try await fixture.run("webhook-secret", "--out", path).ending == .exit(0))
        let text = String(
            decoding: try fixture.apple.folder.contents("webhook.secret"), as: UTF8.self)
        #expect(text.hasPrefix("whsec_") && text.hasSuffix("\n"))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(try await fixture.run("webhook-secret", "--out", path).ending == .exit(3))
    }
}
