import Foundation
import Glibc
import SIWAJOSE
import SIWATestSupport
import Testing

/// After a code was sent, a signal ends siwa in time and never loses the code's tokens.
@Suite(.timeLimit(.minutes(5)), .blocking) struct CodeSignalTests {
    /// Longer than a busy machine takes to see the request and send a signal, and shorter than siwa
    /// goes on after it: 10 s with a code, 5 s without one.
    private static let delay: (withCode: JSON, withoutCode: JSON) = ("6s", "3s")

    static let signals: [(CInt, CInt)] = [
        (SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129), (SIGQUIT, 131), (SIGUSR1, 138),
        (SIGUSR2, 140), (SIGXCPU, 152),
    ]

    /// Starts a command that spends a code, and signals it once `path` was asked for.
    private func run(
        _ apple: LocalApple, _ arguments: [String], signals: [CInt], during path: String
    ) async throws -> ProgramResult {
        let running = try apple.start(arguments)
        try await eventually("\(path) is asked for") {
            try await !apple.requests(to: path).isEmpty
        }
        for signal in signals { running.signal(signal) }
        return try await running.result()
    }

    /// That Apple's response is printed whole, even with `--print`.
    private func expectTokens(_ result: ProgramResult) throws {
        let json = try result.json
        #expect(json["refresh_token"]?.string?.hasPrefix("r") == true, "\(result)")
        #expect(json["access_token"]?.string?.hasPrefix("a") == true, "\(result)")
    }

    @Test(arguments: signals)
    func `tokens that arrive after a signal are printed completely`(
        _ signal: CInt, _ exitCode: CInt
    ) async throws {
        let apple = try await LocalApple()
        try await apple.post("faults", ["endpoint": "/auth/token", "delay": Self.delay.withCode])
        let code = try await apple.code()
        let result = try await run(
            apple, ["exchange", "--code", code, "--print", "user_id"],
            signals: [signal, signal], during: "/auth/token")
        #expect(result.exitCode == exitCode, "\(result)")
        try expectTokens(result)
        #expect(result.errors.hasPrefix("siwa: "), "\(result)")
    }

    @Test func `a signal ends a fetch of Apple's keys immediately`() async throws {
        let apple = try await LocalApple()
        try await apple.post("faults", ["endpoint": "/auth/keys", "delay": "1h"])
        let code = try await apple.code()
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await run(
            apple, ["exchange", "--code", code, "--timeout", "1h"], signals: [SIGTERM, SIGTERM],
            during: "/auth/keys")
        #expect(result.exitCode == 143, "\(result)")
        try expectTokens(result)
        // The other checks passed; the interrupted fetch begins no pause.
        #expect(try result.json["user_id"] != nil && result.errors.contains("was not checked"))
        try await apple.post("reset")
        let next = try await apple.siwa(["exchange", "--code", try await apple.code()])
        #expect(next.exitCode == 0 && next.errors.isEmpty, "\(next)")
        #expect(clock.now - start < .seconds(60))
    }

    @Test func `if Apple does not answer after a signal, the outcome is unknown`() async throws {
        let apple = try await LocalApple()
        try await apple.post("faults", ["endpoint": "/auth/token", "delay": "1h"])
        let code = try await apple.code()
        let result = try await run(
            apple, ["exchange", "--code", code, "--timeout", "1h", "--json"],
            signals: [SIGTERM, SIGINT], during: "/auth/token")
        #expect(result.exitCode == 7, "\(result)")
        #expect(result.outputBytes.isEmpty, "\(result)")
        let error = try JSON(result.errorBytes)["error"]
        #expect(error?["code"] == "outcome_unknown" && error?["exit_code"]?.integer == 7)
    }

    @Test func `a code that was not sent before a signal is not sent after it`() async throws {
        let apple = try await LocalApple()
        // Apple is unavailable, so that siwa only retries.
        let code = try await apple.code()
        _ = try await apple.stop()
        let running = try apple.start([
            "exchange", "--code", code, "--timeout", "1h", "--max-attempts", "100", "-v",
        ])
        try await eventually("siwa waits") { try running.errorsSoFar().contains("- waiting") }
        running.signal(SIGTERM)
        let result = try await running.result()
        #expect(result.exitCode == 143, "\(result)")
        #expect(result.errors.contains("the code was not sent"), "\(result)")
    }

    @Test func `an interrupted revocation by code prints the tokens that it did not revoke`()
        async throws
    {
        let apple = try await LocalApple()
        try await apple.post("faults", ["endpoint": "/auth/token", "delay": Self.delay.withCode])
        let code = try await apple.code()
        let result = try await run(
            apple, ["revoke", "--code", code, "--print", "revoked"], signals: [SIGTERM, SIGTERM],
            during: "/auth/token")
        #expect(result.exitCode == 143, "\(result)")
        try expectTokens(result)
        #expect(try await apple.requests(to: "/auth/revoke").isEmpty, "it began after the signal")
        #expect(try result.json["revoked"] == false && result.json["confirmed"] == false)
        #expect(result.errors.hasPrefix("siwa: outcome_unknown: "), "\(result)")
        #expect(result.errors.contains("siwa revoke --token - --kind refresh_token"), "\(result)")
        #expect(!result.errors.contains("had finished"), "\(result)")
    }

    /// Starts an exchange whose result is not read, and signals it while it writes.
    private func exchangeUnread(
        _ apple: LocalApple, _ more: [String] = [], environment: [String: String] = [:],
        user: String? = nil
    ) async throws -> RunningProgram {
        let code = try await apple.code(user.map { [.init("user", .string($0))] } ?? [])
        let running = try apple.start(
            ["exchange", "--code", "-"] + more, input: code, environment: environment,
            output: .hangingPipe)
        try await eventually("siwa prints") { isWritingOutput(running.pid) }
        // SIGALRM from another process neither ends siwa nor stops the watchdog.
        running.signal(SIGALRM)
        running.signal(SIGTERM)
        running.signal(SIGALRM)
        return running
    }

    @Test func `a reader that continues seven seconds after a signal gets the tokens`()
        async throws
    {
        let running = try await exchangeUnread(try await LocalApple())
        try await Task.sleep(for: .seconds(7))
        // siwa writes as soon as there is room: what is read may end with a part of its output.
        let before = try running.takeUnreadOutput()
        let result = try await running.result()
        #expect(result.exitCode == 143, "\(result)")
        let output = try before + running.takeUnreadOutput()
        // The pipe was full of dots.
        let json = try JSON(text: String(output.drop { $0 == "." }))
        #expect(json["refresh_token"]?.string?.hasPrefix("r") == true)
    }

    @Test func `the watchdog reports that the tokens of a spent code are lost`() async throws {
        let result = try await exchangeUnread(try await LocalApple()).result()
        #expect(result.exitCode == 143, "\(result)")
        #expect(result.errors.hasPrefix("siwa: stopped: it hung after a signal"), "\(result)")
        #expect(
            result.errors.contains("its tokens were neither delivered nor stored\nhint: "),
            "\(result)")
    }

    @Test func `the watchdog reports that the vault has the token of a spent code`() async throws {
        let fixture = try await VaultFixture(.sqlite, Population(usual: 1, all: .migrates))
        let result = try await exchangeUnread(
            fixture.apple, ["--store"], environment: fixture.environment,
            user: fixture.people.name(1)
        ).result()
        #expect(result.exitCode == 143, "\(result)")
        #expect(result.errors.contains("the refresh token is stored in the vault"), "\(result)")
        #expect(try fixture.opened()[fixture.user(1)]?.count == 1)
    }

    @Test func `a hanging revocation ends and prints the tokens`() async throws {
        let apple = try await LocalApple()
        try await apple.post("faults", ["endpoint": "/auth/revoke", "delay": "1h"])
        let code = try await apple.code()
        let result = try await run(
            apple, ["revoke", "--code", code, "--timeout", "1h", "--print", "revoked"],
            signals: [SIGTERM, SIGTERM], during: "/auth/revoke")
        #expect(result.exitCode == 143, "\(result)")
        try expectTokens(result)
    }

    @Test func `a request in progress is finished, and a second signal ends it immediately`()
        async throws
    {
        let apple = try await LocalApple()
        let tokens = try await apple.siwa("exchange", "--code", try await apple.code()).json
        let token = try #require(tokens["refresh_token"]?.string)
        try await apple.post(
            "faults", ["endpoint": "/auth/revoke", "delay": Self.delay.withoutCode])
        let first = try await run(
            apple, ["revoke", "--token", token], signals: [SIGTERM], during: "/auth/revoke")
        #expect(first.exitCode == 143, "\(first)")
        #expect(try first.json["revoked"] == true)
        try await apple.post("faults", ["endpoint": "/auth/token", "delay": "1h"])
        let refreshes = try await apple.requests().count
        let running = try apple.start(["refresh", "--token", token, "--timeout", "1h"])
        try await eventually("the refresh is there") {
            try await apple.requests().count > refreshes
        }
        running.signal(SIGTERM)
        running.signal(SIGINT)
        let second = try await running.result()
        #expect(second.exitCode == 130 || second.exitCode == 143, "\(second)")
        #expect(second.outputBytes.isEmpty)
    }

    @Test func `storing in a locked vault has two seconds`() async throws {
        let fixture = try await VaultFixture(.sqlite, Population(usual: 1, all: .migrates))
        let other = try fixture.vault()
        let lock = try WriteLock(of: fixture.apple.folder.path("vault.db"))
        let result = try await store(fixture, url: fixture.url)
        try expectTokens(result)
        #expect(result.exitCode == 143, "\(result)")
        #expect(try result.json["stored"] == false)
        withExtendedLifetime((other, lock)) {}
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `storing in a database that does not answer has two seconds`() async throws {
        let server = try await PostgresServer.shared()
        let fixture = try await VaultFixture(.postgres, Population(usual: 1, all: .migrates))
        let proxy = try PostgresProxy(
            server, .beforeCommit(of: "INSERT INTO vault_token", count: 1))
        let result = try await store(fixture, url: proxy.url(fixture.databaseName))
        #expect(proxy.hasStopped)
        try expectTokens(result)
        #expect(result.exitCode == 143, "\(result)")
        #expect(try result.json["stored"] == false)
        let words =
            result.errors.components(separatedBy: "did not answer within ").last?
            .split(separator: " ") ?? []
        #expect(words.count > 1 && words[1].hasPrefix("s"), "not the timeout: \(result)")
    }

    /// Exchanges a code with a timeout of an hour, and signals the command while it stores.
    private func store(_ fixture: VaultFixture, url: String) async throws -> ProgramResult {
        let code = try await fixture.apple.code([.init("user", .string(fixture.people.name(1)))])
        let environment = fixture.environment.merging(["SIWA_VAULT_URL": url]) { $1 }
        // The identity token is verified by keys that are there already: nothing else takes long.
        _ = try await fixture.apple.siwa("keys")
        let running = try fixture.apple.start(
            ["exchange", "--code", code, "--store", "--timeout", "1h", "--print", "user_id"],
            environment: environment)
        try await eventually("Apple has the code") { try await !fixture.apple.requests().isEmpty }
        try await Task.sleep(for: .milliseconds(500))
        for signal in [SIGTERM, SIGINT] { running.signal(signal) }
        return try await running.result()
    }
}
