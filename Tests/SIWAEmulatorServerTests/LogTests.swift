import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `siwa-emulator log`, beside a running emulator.
@Suite struct LogTests {
    @Test func `the log prints the latest requests, oldest first, without secrets`() async throws {
        let fixture = try await EmulatorFixture()
        let server = try await fixture.serve()
        let code = try await server.code()
        let tokens = try await fixture.siwa("exchange", "--code", code, "--base-url", server.url)
        #expect(tokens.ending == .exit(0), "\(tokens)")
        try await server.get("/auth/keys")
        let log = try await fixture.emulator("log", fixture.path)
        #expect(log.ending == .exit(0) && log.errors.isEmpty, "\(log)")
        let lines = log.output.split(separator: "\n").map { $0.dropFirst(10) }
        #expect(lines.last == "GET  /auth/keys  200  ok")
        #expect(
            lines.contains(
                "POST  /auth/token  authorization_code  com.example.app  200  ok: 'alice' signed in"
            ))
        let token = try #require(try JSON(text: tokens.output)["refresh_token"]?.string)
        for secret in [code, token] {
            #expect(!log.output.contains(secret))
        }
        let one = try await fixture.emulator("log", fixture.path, "--lines", "1", "--json")
        #expect(try JSON(text: one.output)["path"] == "/auth/keys")
        let checks = try await fixture.emulator(
            "log", "--url", server.url, "--path", "/auth/token", "--checks")
        #expect(checks.output.contains("\n          passed  client_secret: "), "\(checks)")
        #expect(!checks.output.contains("/auth/keys"))
    }

    @Test func `control characters in a request are not sent to the terminal`() async throws {
        let fixture = try await EmulatorFixture()
        let server = try await fixture.serve()
        try await server.get("/auth/authorize?client_id=%1B%5B2J%0D%0Aevil%E2%80%AE%C2%9B")
        let log = try await fixture.emulator("log", fixture.path, "--checks")
        #expect(log.output.contains("?[2J??evil?"), "\(log)")
        #expect(log.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.isPrintable })
    }

    @Test func `new requests are printed when they arrive`() async throws {
        let fixture = try await EmulatorFixture()
        let server = try await fixture.serve()
        try await server.get("/auth/keys")
        let log = try await fixture.follow("--lines", "0")
        try await eventually("the log is followed") {
            try await server.get("/auth/token")
            return try log.outputSoFar().contains("GET  /auth/token  405")
        }
        #expect(try !log.outputSoFar().contains("/auth/keys"))
        log.signal(2)
        #expect(try await log.result().exitCode == 130)
    }

    @Test(arguments: [15, 9] as [CInt])
    func `the log waits for an emulator that restarts, on any port`(
        _ signal: CInt
    ) async throws {
        let fixture = try await EmulatorFixture()
        let first = try await fixture.serve()
        for _ in 0..<3 { try await first.get("/auth/keys") }
        let log = try await fixture.follow()
        try await eventually("three lines") { try log.outputSoFar().lines == 3 }
        first.program.signal(signal)
        _ = try await first.program.result()
        try await eventually("a note") {
            try log.errorsSoFar().contains("the emulator has ended; waiting")
        }
        #expect(!log.hasEnded)
        let second = try await fixture.serve()
        // More requests than the first emulator had: they must not be confused with its requests.
        for _ in 0..<5 { try await second.get("/auth/revoke") }
        try await eventually("five more lines") { try log.outputSoFar().lines >= 8 }
        #expect(try log.outputSoFar().matches(of: /\/auth\/revoke/).count == 5)
        #expect(try log.outputSoFar().lines == 8)
        #expect(
            try log.errorsSoFar() == """
                siwa-emulator: the emulator has ended; waiting for it to start again
                siwa-emulator: the emulator is back

                """)
        log.signal(9)
    }

    @Test func `the log continues after a reset`() async throws {
        let fixture = try await EmulatorFixture()
        let server = try await fixture.serve()
        try await server.get("/auth/keys")
        let log = try await fixture.follow("--json")
        try await eventually("a line") { try log.outputSoFar().lines == 1 }
        try await server.post("/emulator/reset")
        try await server.get("/auth/token")
        try await eventually("another line") { try log.outputSoFar().lines == 2 }
        let records = try log.outputSoFar().split(separator: "\n").map {
            try JSON(text: String($0))
        }
        #expect(records.map { $0["number"] } == [1, 1])
        #expect(records.map { $0["path"] } == ["/auth/keys", "/auth/token"])
        log.signal(9)
    }

    @Test func `the log reports why it cannot follow an emulator`() async throws {
        let fixture = try await EmulatorFixture()
        let none = try await fixture.emulator("log", fixture.path, "--follow")
        #expect(none.ending == .exit(3) && none.errors.contains("no emulator serves"), "\(none)")
        let port = try await RawServer.serving([.close]) { $0.port }
        let silent = try await fixture.emulator("log", "--url", "http://127.0.0.1:\(port)")
        #expect(silent.ending == .exit(75), "\(silent)")
        #expect(silent.errors.contains("no emulator answers at http://127.0.0.1:\(port): "))
        try await RawServer.serving([.readRequest, .answer(200, "{}"), .close]) { other in
            let result = try await fixture.emulator("log", "--url", other.url, "--follow")
            #expect(result.ending == .exit(75), "\(result)")
            #expect(result.errors.contains("answered with status 200 and no log"))
        }
        for arguments in [[], ["--url", "ftp://x"], ["--lines", "1001", fixture.path]] {
            let result = try await Executable.product("siwa-emulator").run(
                .init(["log"] + arguments))
            #expect(result.ending == .exit(2), "\(result)")
        }
    }
}

extension String {
    fileprivate var lines: Int { split(separator: "\n").count }
}

extension Unicode.Scalar.Properties {
    fileprivate var isPrintable: Bool {
        ![.control, .format, .lineSeparator, .paragraphSeparator].contains(generalCategory)
    }
}

extension EmulatorFixture {
    /// Follows the log of the emulator that serves this folder.
    fileprivate func follow(_ options: String...) async throws -> RunningProgram {
        try Executable.product("siwa-emulator").start(
            .init(["log", path, "--follow"] + options, limit: .seconds(180)))
    }
}

extension RunningEmulator {
    fileprivate func get(_ target: String) async throws { try await curl(target) }

    fileprivate func post(_ target: String) async throws { try await curl(target, "-d", "") }

    private func curl(_ target: String, _ options: String...) async throws {
        let curl = try #require(Executable.installed("curl"))
        let result = try await curl.run(
            .init(["-sS", "-o", "/dev/null", "\(url)\(target)"] + options))
        try #require(result.ending == .exit(0), "\(result)")
    }
}
