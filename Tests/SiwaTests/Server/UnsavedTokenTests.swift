import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// Refresh tokens that the database does not take before the server ends.
@Suite(
    .blocking, .enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
struct UnsavedTokenTests {
    /// A server whose database crashes after a code was sent, so that its token waits.
    private struct Outage {
        let postgres: PostgresServer
        let fixture: ServerFixture
        let folder: TemporaryFolder
        let server: ServerProcess
        let answer: JSON

        /// - Parameter limit: what is done to the server before it needs its file.
        init(
            _ path: String = "/v1/exchange",
            limiting limit: (ServerProcess) async throws -> Void = { _ in }
        ) async throws {
            postgres = try await PostgresServer()
            fixture = try await ServerFixture(.postgres, on: postgres)
            folder = try TemporaryFolder()
            let server = try await fixture.serve(
                fixture.listeners + [.init("state", .string(folder.path))])
            try await limit(server)
            try await fixture.apple.post(
                "faults", ["endpoint": "/auth/token", "delay": "3s", "count": 1])
            let code = try await fixture.apple.code([
                .init("user", .string(fixture.vault.people.name(1)))
            ])
            async let response = server.call(
                "api", "POST", path, ["Content-Type: application/json"],
                body: "{\"code\":\"\(code)\"}")
            let apple = fixture.apple
            self.server = server
            try await eventually("Apple has the code") {
                try await !apple.requests().isEmpty
            }
            try await postgres.crash()
            let answered = try await response
            answer = try JSON(text: answered.body)
            guard path == "/v1/exchange" else { return }
            #expect(answered.status == 200, "\(answered)")
            #expect(answer["stored"] == false && answer["refresh_token"]?.string != nil)
        }

        var file: String { folder.path("unsaved-tokens") }

        func contents() throws -> String {
            let bytes = try folder.contents("unsaved-tokens")
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Every line of the log is JSON.
    private func checkLog(_ result: ProgramResult) {
        for line in result.errors.split(separator: "\n") {
            #expect((try? JSON(text: String(line))) != nil, "\(line)")
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func `a token that cannot be stored is encrypted in a file, and stored at the next start`(
        isKilled: Bool
    ) async throws {
        let outage = try await Outage()
        #expect(try await outage.server.metric("siwa_unsaved_tokens") == 1)
        if isKilled { outage.server.program.signal(SIGKILL) }
        let ended =
            isKilled ? try await outage.server.program.result() : try await outage.server.stop()
        #expect(ended.ending == (isKilled ? .signal(SIGKILL) : .exit(0)), "\(ended)")
        checkLog(ended)
        #expect(ended.errors.contains("\"token_saved\""))
        let token = try #require(outage.answer["refresh_token"]?.string)
        let saved = try outage.contents()
        #expect(saved.contains("\"sealed\"") && !saved.contains(token))
        let status = try FileManager.default.attributesOfItem(atPath: outage.file)
        #expect(status[.posixPermissions] as? Int == 0o600)
        try await outage.postgres.start()
        let next = try await outage.fixture.serve()
        #expect(try next.log("unsaved_token_stored").count == 1)
        #expect(try await next.metric("siwa_unsaved_tokens") == 0)
        let stored = try outage.fixture.vault.opened().values.flatMap(\.self)
        #expect(stored.map(\.token) == [token] && stored.map(\.state) == [.active])
        #expect(try outage.contents() == "")
        #expect(try await next.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(5)), arguments: [nil, "a line of another file"])
    func `a file that was removed or replaced gets the tokens again, and keeps what it has`(
        other: String?
    ) async throws {
        let outage = try await Outage()
        try FileManager.default.removeItem(atPath: outage.file)
        if let other { try outage.folder.write("unsaved-tokens", other) }
        try await eventually("it has the token", limit: .seconds(60)) {
            (try? outage.contents().contains("\"sealed\"")) == true
        }
        if let other { #expect(try outage.contents().contains(other)) }
        outage.server.program.signal(SIGKILL)
        _ = try await outage.server.program.result()
        try await outage.postgres.start()
        let next = try await outage.fixture.serve()
        #expect(try next.log("unsaved_token_stored").count == 1)
        #expect(try outage.fixture.vault.opened().count == 1)
        #expect(try await next.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(5)))
    func `a file that a start could not open is a problem while the server runs`() async throws {
        let fixture = try await ServerFixture(.postgres)
        let folder = try TemporaryFolder()
        let server = try await fixture.serve(
            fixture.listeners + [.init("state", .string(folder.path))])
        let file = folder.path("unsaved-tokens")
        // Root may read every file, and uses its own only.
        try #require((geteuid() == 0 ? chown(file, 65534, 65534) : chmod(file, 0)) == 0)
        try await eventually("it is a problem", limit: .seconds(40)) {
            try await server.api("GET", "/v1/status").body.contains("server.state: cannot")
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(5)))
    func `a token that is stored when the database works again leaves the file`() async throws {
        let outage = try await Outage()
        #expect(try outage.contents().contains("\"sealed\""))
        try await outage.postgres.start()
        try await eventually("it is stored", limit: .seconds(60)) {
            try await outage.server.metric("siwa_unsaved_tokens") == 0
        }
        #expect(try outage.contents() == "")
        #expect(try outage.fixture.vault.opened().count == 1)
        #expect(try await outage.server.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(5)))
    func `the history decides about a saved token, and one that cannot be decrypted is kept`()
        async throws
    {
        let outage = try await Outage()
        #expect(try await outage.server.stop().ending == .exit(0))
        try await outage.postgres.start()
        // Revoked meanwhile by another program that had the token.
        let token = try #require(outage.answer["refresh_token"]?.string)
        try outage.fixture.apple.folder.write(
            "revoked.jsonl",
            """
            {"user_id":"\(outage.fixture.vault.people.userID(1))","refresh_token":"\(token)",\
            "state":"revoked","changed_at":"2099-01-01T00:00:00Z"}
            """)
        let imported = try await outage.fixture.apple.siwa(
            "vault", "import", outage.fixture.apple.folder.path("revoked.jsonl"), "--client-id",
            "com.example.app", environment: outage.fixture.vault.environment)
        #expect(imported.exitCode == 0, "\(imported)")
        let line = try outage.contents()
        let foreign = line.replacingOccurrences(of: "\"sealed\":\"", with: "\"sealed\":\"AAAA")
        try outage.folder.write("unsaved-tokens", line + foreign + "not JSON\n")
        let next = try await outage.fixture.serve()
        #expect(try next.log("unsaved_token_stored").count == 1)
        #expect(try next.log("unsaved_token_kept").count == 2)
        #expect(try await next.metric("siwa_unsaved_tokens") == 2)
        let stored = try outage.fixture.vault.opened().values.flatMap(\.self)
        #expect(stored.map(\.state) == [.revoked])
        #expect(try outage.contents() == foreign + "not JSON\n")
        #expect(try await next.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(5)))
    func `an event that another server received meanwhile applies to a saved token`() async throws {
        let outage = try await Outage()
        let fixture = outage.fixture
        #expect(try await outage.server.stop().ending == .exit(0))
        try await outage.postgres.start()
        let folder = try TemporaryFolder()
        let other = try await fixture.serve(
            fixture.listeners + [.init("state", .string(folder.path))])
        let answers = try await fixture.notify("consent-revoked", at: try other.notificationURL)
        #expect(answers == ["200": 1])
        #expect(try await other.stop().ending == .exit(0))
        let next = try await fixture.serve(
            fixture.listeners + [.init("state", .string(outage.folder.path))])
        #expect(try next.log("unsaved_token_stored").count == 1)
        let stored = try fixture.vault.opened().values.flatMap(\.self)
        #expect(stored.map(\.state) == [.consentRevoked])
        #expect(try await next.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(5)))
    func `a saved token that the start cannot store is stored later, and holds up its revocation`()
        async throws
    {
        let outage = try await Outage()
        let fixture = outage.fixture
        #expect(try await outage.server.stop().ending == .exit(0))
        try await outage.postgres.start()
        try fixture.vault.run(
            """
            CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$
            """)
        try fixture.vault.run(
            "CREATE TRIGGER full_disk BEFORE INSERT ON vault_token EXECUTE FUNCTION full_disk()")
        let next = try await fixture.serve(
            fixture.listeners + [.init("state", .string(outage.folder.path))])
        #expect(try next.log("unsaved_token_kept").count == 1)
        #expect(try await next.metric("siwa_unsaved_tokens") == 1)
        let user = fixture.vault.people.userID(1)
        func revoke() async throws -> HTTPAnswer {
            try await next.call(
                "api", "POST", "/v1/revoke", ["Content-Type: application/json"],
                body: "{\"user_id\":\"\(user)\"}")
        }
        #expect(try await revoke().status == 503)
        #expect(try outage.contents().contains(user))
        try fixture.vault.run("DROP FUNCTION full_disk CASCADE")
        #expect(try await revoke().status == 200)
        #expect(try next.log("unsaved_token_stored").count == 1)
        #expect(try await next.metric("siwa_unsaved_tokens") == 0)
        #expect(try outage.contents() == "")
        #expect(try await next.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(5)))
    func `no command revokes or removes a user whose token is only in the file`() async throws {
        let outage = try await Outage()
        let fixture = outage.fixture
        #expect(try await outage.server.stop().ending == .exit(0))
        try await outage.postgres.start()
        func siwa(_ arguments: String..., of person: Int = 1) async throws -> ProgramResult {
            try await fixture.apple.siwa(
                arguments + [fixture.vault.people.userID(person), "--client-id=com.example.app"],
                environment: fixture.environment)
        }
        for early in [
            try await siwa("revoke", "--user"), try await siwa("vault", "remove", "--erase"),
        ] {
            #expect(early.exitCode == 75, "\(early)")
            #expect(early.errors.contains("waits in \(outage.file)"), "\(early)")
        }
        #expect(try await siwa("revoke", "--user", of: 2).exitCode == 1)
        let all = try await fixture.apple.siwa(
            "batch", "revoke", "--vault", "--client-id=com.example.app",
            environment: fixture.environment)
        #expect(all.exitCode == 75 && all.errors.contains("waits in \(outage.file)"), "\(all)")
        let next = try await fixture.serve()
        #expect(try await next.stop().ending == .exit(0))
        let revoked = try await siwa("revoke", "--user")
        #expect(revoked.exitCode == 0, "\(revoked)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `a token that cannot be saved is named, and the exit code is 75`() async throws {
        guard let prlimit = Executable.installed("prlimit") else { return }
        let outage = try await Outage { server in
            // Not all of the reserved space can be written any more.
            let limited = try await prlimit.run(
                "--pid", "\(server.program.pid)", "--fsize=60000:")
            try #require(limited.exitCode == 0, "\(limited)")
        }
        let ended = try await outage.server.stop()
        #expect(ended.ending == .exit(75), "\(ended)")
        let lost = try ended.errors.split(separator: "\n").map { try JSON(text: String($0)) }
            .first { $0["event"] == "token_lost" }
        #expect(lost?["user_id"]?.string == outage.fixture.vault.people.userID(1))
        #expect(lost?["token_fingerprint"]?.string?.count == 12)
        checkLog(ended)
    }

    @Test(.timeLimit(.minutes(5)))
    func `if the token of a code that was to be revoked is lost, it is named`() async throws {
        let outage = try await Outage("/v1/revoke")
        try await eventually("the token waits") {
            try !outage.server.log("token_not_noted").isEmpty
        }
        let ended = try await outage.server.stop()
        #expect(ended.ending == .exit(75), "\(ended)")
        let lost = try ended.errors.split(separator: "\n").map { try JSON(text: String($0)) }
            .filter { $0["event"] == "token_lost" }
        #expect(lost.count == 1 && lost.first?["token_fingerprint"]?.string?.count == 12)
        checkLog(ended)
    }

    @Test func `servers that share a state folder have separate files`() async throws {
        let fixture = try await ServerFixture(.postgres)
        let folder = try TemporaryFolder()
        let members: [JSON.Member] = [
            .init("metrics", ["listen": "127.0.0.1:0"]), .init("state", .string(folder.path)),
        ]
        let first = try await fixture.serve(members)
        let second = try await fixture.serve()
        for name in ["unsaved-tokens", "unsaved-tokens.2"] {
            #expect(try folder.contents(name).count == 64 << 10)
        }
        #expect(try await first.stop().ending == .exit(0))
        #expect(try await second.stop().ending == .exit(0))
    }

    @Test func `without a state folder, the server does not start`() async throws {
        let fixture = try await ServerFixture(.postgres)
        try fixture.configure(fixture.listeners)
        for command in ["check", "serve"] {
            let result = try await fixture.run(command, environment: ["STATE_DIRECTORY": ""])
            #expect(result.ending == .exit(3), "\(result)")
            #expect(result.errors.contains("server.state"))
        }
    }
}
