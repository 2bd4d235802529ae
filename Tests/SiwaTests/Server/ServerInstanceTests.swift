import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// The row of each running server, its heartbeat, and the lock of an embedded vault.
@Suite(.blocking) struct ServerInstanceTests {
    private func rows(_ fixture: ServerFixture) throws -> [[Value]] {
        try connector(of: fixture.vault.url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false)
            .run("SELECT id, heartbeat_at, lease_until - heartbeat_at FROM server_instance")
    }

    @Test(arguments: VaultBackend.available)
    func `a server has a row from its start to its end`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        let first = try rows(fixture)
        #expect(first.count == 1 && first[0][2] == .integer(30_000), "\(first)")
        try await eventually("the next heartbeat") {
            try rows(fixture).first?[1].integer ?? 0 > first[0][1].integer ?? 0
        }
        #expect(try await server.stop().ending == .exit(0))
        #expect(try rows(fixture).isEmpty)
        let killed = try await fixture.serve()
        try await killed.kill()
        #expect(try rows(fixture).count == 1)
    }

    @Test(arguments: VaultBackend.available)
    func `a start that fails leaves no row`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        try fixture.configure([.init("notifications", ["listen": "systemd:apple"])])
        let failed = try await fixture.run("serve")
        #expect(failed.ending == .exit(3), "\(failed)")
        #expect(failed.errors.contains("systemctl restart siwa-server.socket"))
        #expect(try rows(fixture).isEmpty)
        try FileManager.default.createDirectory(
            atPath: fixture.apple.folder.path("taken/unsaved-tokens"),
            withIntermediateDirectories: true)
        try fixture.configure(
            fixture.listeners + [.init("state", .string(fixture.apple.folder.path("taken")))])
        #expect(try await fixture.run("serve").ending == .exit(3))
        #expect(try rows(fixture).isEmpty)
    }

    @Test(arguments: VaultBackend.available)
    func
        `vault copy refuses a vault that is served, and a server whose vault moved ends its service`(
            _ backend: VaultBackend
        ) async throws
    {
        let fixture = try await ServerFixture(backend)
        let target = try TemporaryFolder()
        let server = try await fixture.serve(fixture.listeners)
        func copy() async throws -> ProgramResult {
            try await fixture.apple.siwa(
                "vault", "copy", "--to", "sqlite:" + target.path("vault.db"),
                environment: fixture.vault.environment)
        }
        let refused = try await copy()
        #expect(refused.exitCode == 3 && refused.errors.contains("siwa-server"), "\(refused)")
        // As if the server had been killed long ago: but it lives, and its next heartbeat may come first.
        try await eventually("the vault is copied") {
            try fixture.vault.run("UPDATE server_instance SET lease_until = 0")
            return try await copy().exitCode == 0
        }
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        #expect(try await server.post(body).status == 503)
        try await eventually("it is not ready") {
            let answer = try await server.call("metrics", "GET", "/readyz")
            return answer.status == 503 && answer.body.contains("was moved to")
        }
        #expect(try await server.stop().ending == .exit(0))
        let again = try await fixture.run("serve")
        #expect(again.ending == .exit(3) && again.errors.contains("was moved to"), "\(again)")
        let moved = try await fixture.serve(
            environment: ["SIWA_VAULT_URL": "sqlite:" + target.path("vault.db")])
        #expect(try await moved.post(body).status == 200)
        #expect(try await moved.stop().ending == .exit(0))
    }

    @Test func `a second server does not start, even with a hard link or a deleted lock file`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let file = String(try #require(fixture.vault.environment["SIWA_VAULT_URL"]).dropFirst(7))
        for path in try FileManager.default.contentsOfDirectory(atPath: fixture.apple.folder.path)
        where path.hasSuffix(".lock") {
            try FileManager.default.removeItem(atPath: fixture.apple.folder.path(path))
        }
        let link = fixture.apple.folder.path("link.db")
        try #require(Foundation.link(file, link) == 0)
        for path in [file, link] {
            let second = try await fixture.run(
                "serve", environment: ["SIWA_VAULT_URL": "sqlite:" + path])
            #expect(second.ending == .exit(3), "\(second)")
            #expect(second.errors.contains("another siwa-server uses the vault"))
        }
        // SQLite's own locks are still there: the server works on.
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        #expect(try await server.post(body).status == 200)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `the file of a stopped server's vault has all records, without its log`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let log = fixture.apple.folder.path("vault.db-wal")
        for number in 1...3 {
            _ = try await server.api(
                "POST", "/v1/exchange", ["code": .string(try await fixture.code(of: number))])
        }
        // Each connection is in use.
        for path in ["/", "/metrics", "/readyz"] {
            #expect(try await server.call("metrics", "GET", path).status == 200)
        }
        #expect(FileManager.default.fileExists(atPath: log))
        #expect(try await server.stop().ending == .exit(0))
        #expect(!FileManager.default.fileExists(atPath: log))
        #expect(try fixture.vault.opened().count == 3)
    }

    @Test func `a log that was replaced is not removed at the end`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let log = fixture.apple.folder.path("vault.db-wal")
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        #expect(try await server.post(body).status == 200)
        try FileManager.default.removeItem(atPath: log)
        try fixture.apple.folder.write("vault.db-wal", "another file's")
        #expect(try await server.stop().ending == .exit(0))
        #expect(try fixture.apple.folder.contents("vault.db-wal") == Array("another file's".utf8))
    }

    @Test func `a full disk makes the server unready until a write succeeds`() async throws {
        guard let prlimit = Executable.installed("prlimit") else { return }
        let fixture = try await ServerFixture()
        let log = fixture.apple.folder.path("vault.db-wal")
        let server = try await fixture.serve(fixture.listeners)
        func limit(_ bytes: String) async throws {
            let result = try await prlimit.run(
                "--pid", "\(server.program.pid)", "--fsize=\(bytes):")
            try #require(result.exitCode == 0, "\(result)")
        }
        func isReady() async throws -> Bool {
            try await server.call("metrics", "GET", "/readyz").status == 200
        }
        #expect(try await isReady())
        let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
        try await limit(String(try #require(size)))
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        try await eventually("a write fails") { try await server.post(body).status == 503 }
        #expect(try await !isReady())
        try await limit("unlimited")
        try await eventually("a write succeeds") { try await isReady() }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `a server without a free file descriptor names the limit, and no file`() async throws
    {
        guard let prlimit = Executable.installed("prlimit") else { return }
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        func status() async throws -> String {
            try await fixture.apple.siwa("status", "--json", environment: environment).output
        }
        let pid = server.program.pid
        let used = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
        let limited = try await prlimit.run("--pid", "\(pid)", "--nofile=\(used + 4):")
        try #require(limited.exitCode == 0, "\(limited)")
        try await eventually("the limit is named", limit: .seconds(60)) {
            try await status().contains("reaches a limit of the system")
        }
        let text = try await status()
        #expect(!text.contains("A restart would fail") && !text.contains("private key"), "\(text)")
        let freed = try await prlimit.run("--pid", "\(pid)", "--nofile=1024:")
        try #require(freed.exitCode == 0, "\(freed)")
        try await eventually("it is forgotten", limit: .seconds(60)) {
            try await !status().contains("reaches a limit of the system")
        }
        #expect(try await server.stop().ending == .exit(0))
    }
}
