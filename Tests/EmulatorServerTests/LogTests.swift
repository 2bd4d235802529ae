import Glibc
import SignInWithApple
import TestSupport
import Testing

/// `siwa-emulator log`.
@Suite struct LogTests {
    @Test func `shows the requests with their verdicts, and every check`() async throws {
        let site = try await Site()
        let server = try await site.serve("--tls")
        let code = try await server.code()
        let base = ["--base-url", server.url]
        let exchanged = try await site.siwa(["exchange", "--code", code] + base)
        #expect(exchanged.ending == .exit(0), "\(exchanged)")
        let again = try await site.siwa(["exchange", "--code", code] + base)
        #expect(again.ending == .exit(5), "\(again)")
        let log = try await site.emulator("log", site.path, "--url", server.url, "--checks")
        #expect(log.ending == .exit(0) && log.errors.isEmpty, "\(log)")
        let lines = log.output.split(separator: "\n")
        let requests = lines.filter { !$0.hasPrefix(" ") }.filter { $0.contains("/auth/token") }
        #expect(requests.count == 2, "\(log)")
        #expect(requests.first?.contains("200  POST /auth/token  com.example.app") == true)
        #expect(requests.last?.hasSuffix("code: exchanged before") == true, "\(log)")
        #expect(lines.contains { $0.contains("passed  client_secret: aud is") }, "\(log)")
        #expect(lines.contains { $0.contains("failed  code: exchanged before") }, "\(log)")
        let json = try await site.emulator("log", site.path, "--url", server.url, "--json")
        let first = try #require(json.output.split(separator: "\n").first)
        #expect(try JSON(text: String(first))["number"] == 1)
    }

    @Test func `follows, also over a reset, until the emulator ends`() async throws {
        let site = try await Site()
        let server = try await site.serve()
        let follower = try Executable.product("siwa-emulator").start(
            .init(["log", "--url", server.url, "--follow"]))
        let curl = try #require(Executable.installed("curl"))
        for path in ["/first", "/second"] {
            _ = try await curl.run("-sS", "\(server.url)\(path)")
            try await eventually("the line of \(path)") {
                try follower.outputSoFar().contains("404  GET \(path)  no such path\n")
            }
            _ = try await curl.run("-sS", "-X", "POST", "\(server.url)/emulator/reset")
        }
        server.program.signal(SIGTERM)
        let result = try await follower.result()
        #expect(result.ending == .exit(75), "\(result)")
        #expect(result.errors.contains("no emulator answers at \(server.url)"), "\(result)")
    }

    @Test func `what a client sends does not steer the terminal`() async throws {
        let site = try await Site()
        let server = try await site.serve()
        let curl = try #require(Executable.installed("curl"))
        _ = try await curl.run(
            "-sS", "\(server.url)/auth/authorize?client_id=%1b%5b2J%e2%80%ae%0aok")
        let log = try await site.emulator("log", "--url", server.url)
        #expect(log.output.split(separator: "\n").count == 1, "\(log)")
        #expect(!log.output.unicodeScalars.contains("\u{1B}") && !log.output.contains("\u{202E}"))
    }

    @Test(
        arguments: [
            (["log"], 2), (["log", "--url", "http://127.0.0.1:1"], 75),
            (["log", "/nonexistent/apple"], 3),
        ] as [([String], Int32)])
    func `an emulator that is not there`(_ arguments: [String], _ code: Int32) async throws {
        let result = try await Executable.product("siwa-emulator").run(.init(arguments))
        #expect(result.ending == .exit(code) && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("hint: "), "\(result)")
    }
}
