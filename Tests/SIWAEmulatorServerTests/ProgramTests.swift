import Foundation
import Glibc
import SIWACommandTable
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import siwa_emulator

/// siwa-emulator as a process.
@Suite struct ProgramTests {
    @Test
    func `init creates the files of siwa and the server, with secrets readable only by the owner`()
        async throws
    {
        let fixture = try await EmulatorFixture()
        let key = try #require(try fixture.files().first { $0.hasPrefix("AuthKey_") })
        #expect(
            try fixture.files() == [
                key, "ca.pem", "config.json", "emulator.json", "recipient", "server-key.pem",
                "server.pem",
            ])
        let recipient = try await fixture.siwa(
            "config", "show", "--profile", "recipient", "--json")
        #expect(recipient.output.contains("/recipient/AuthKey_"), "\(recipient)")
        for name in [key, "server-key.pem"] { #expect(try fixture.permissions(name) == 0o600) }
        #expect(try fixture.permissions("") == 0o700)
        let shown = try await fixture.siwa("config", "show", "--json")
        #expect(shown.ending == .exit(0), "\(shown)")
        #expect(shown.output.contains(try fixture.member("emulator.json", "team_id")))
    }

    @Test func `init overwrites nothing`() async throws {
        let fixture = try await EmulatorFixture()
        let before = try fixture.folder.contents("apple/config.json")
        let again = try await fixture.emulator("init", fixture.path)
        #expect(again.ending == .exit(3), "\(again)")
        #expect(again.errors.contains("'\(fixture.path)/config.json' exists already"), "\(again)")
        #expect(again.output.isEmpty)
        #expect(try fixture.folder.contents("apple/config.json") == before)
        #expect(try fixture.files().count == 7)
    }

    @Test func `siwa exchanges, refreshes and revokes over TLS`() async throws {
        let fixture = try await EmulatorFixture()
        let server = try await fixture.serve("--tls")
        #expect(try server.program.outputSoFar() == "listening on \(server.url)\n")
        #expect(server.url.hasPrefix("https://127.0.0.1:"))
        let code = try await server.code()
        let base = ["--base-url", server.url]
        let exchanged = try await fixture.siwa(["exchange", "--code", code] + base)
        #expect(exchanged.ending == .exit(0), "\(exchanged)")
        let token = try #require(try JSON(text: exchanged.output)["refresh_token"]?.string)
        let revoked = try await fixture.siwa(["revoke", "--token", token, "--check-first"] + base)
        #expect(revoked.ending == .exit(0), "\(revoked)")
        let refreshed = try await fixture.siwa(["refresh", "--token", token] + base)
        #expect(refreshed.ending == .exit(5), "\(refreshed)")
        server.program.signal(SIGTERM)
        #expect(try await server.program.result().ending == .exit(0))
    }

    @Test
    func `a port in use is a temporary error, and the default port is the one that init chose`()
        async throws
    {
        let server = try await EmulatorFixture().serve()
        let port = String(server.url.split(separator: ":")[2])
        let second = try await EmulatorFixture("--port", port)
        let result = try await second.emulator("serve", second.path)
        #expect(result.ending == .exit(75), "\(result)")
        #expect(result.errors.contains("port \(port) of 127.0.0.1 is in use"), "\(result)")
    }

    @Test func `a missing certificate is replaced`() async throws {
        let fixture = try await EmulatorFixture()
        let before = try fixture.folder.contents("apple/ca.pem")
        unlink(fixture.folder.path("apple/server.pem"))
        let server = try await fixture.serve("--tls")
        #expect(try fixture.folder.contents("apple/ca.pem") != before)
        #expect(try await server.code().hasPrefix("c"))
        server.program.signal(SIGTERM)
        let errors = try await server.program.result().errors
        #expect(errors.contains("made a new certificate"), "\(errors)")
    }

    @Test func `a certificate that expires soon is replaced`() async throws {
        let fixture = try await EmulatorFixture()
        let files = TLSFiles(folder: Folder(path: fixture.path))
        let now = 2_000_000_000
        try files.renew(now: now)
        let day = 86_400
        #expect(try files.isGood(now: now))
        #expect(try files.isGood(now: now + 357 * day))
        #expect(try !files.isGood(now: now + 359 * day))
        #expect(try !files.isGood(now: now - 2 * 3600))
    }

    @Test func `a hanging reader does not keep the server from stopping`() async throws {
        let site = try await EmulatorFixture()
        let running = try Executable.product("siwa-emulator").start(
            .init(
                ["serve", site.path, "--port", "0", "--listen", "0.0.0.0"], output: .hangingPipe))
        // Next, it prints its URL.
        try await eventually("it serves") { try running.errorsSoFar().contains("listening on") }
        running.signal(SIGTERM)
        let result = try await running.result()
        #expect(result.ending == .exit(143), "\(result)")
        #expect(result.errors.contains("siwa-emulator: stopped: it hung"), "\(result)")
    }

    @Test func `no core dump contains the keys`() async throws {
        let server = try await EmulatorFixture().serve()
        let limits = try String(
            contentsOfFile: "/proc/\(server.program.pid)/limits", encoding: .utf8)
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(separator: " ").suffix(3).dropLast() == ["0", "0"], "\(core ?? "")")
    }

    @Test func `the other host of the discovery document is covered by the certificate`()
        async throws
    {
        let fixture = try await EmulatorFixture()
        let server = try await fixture.serve("--tls")
        let curl = try #require(Executable.installed("curl"))
        let turned = try await curl.run(
            "-sS", "--cacert", "\(fixture.path)/ca.pem", "\(server.url)/emulator/switches", "-d",
            #"{"discovery_issuer":"https://account.apple.com"}"#)
        #expect(turned.ending == .exit(0), "\(turned)")
        let port = try #require(server.url.split(separator: ":").last)
        // As with an entry in the hosts file, and port 443.
        let options = [
            "-sS", "--cacert", "\(fixture.path)/ca.pem", "--connect-to", "::127.0.0.1:\(port)",
        ]
        let found = try await curl.run(
            .init(options + ["https://appleid.apple.com/.well-known/openid-configuration"]))
        let jwks = try #require(try JSON(text: found.output)["jwks_uri"]?.string)
        #expect(jwks == "https://account.apple.com/auth/keys")
        let keys = try await curl.run(.init(options + [jwks]))
        #expect(try JSON(text: keys.output)["keys"]?.elements?.count == 3, "\(keys)")
    }

    @Test func `a seed gives the same key set and codes after every start`() async throws {
        let fixture = try await EmulatorFixture()
        let curl = try #require(Executable.installed("curl"))
        var answers: [[String]] = []
        for _ in 1...2 {
            let server = try await fixture.serve("--seed", "42")
            let keys = try await curl.run("-sS", "\(server.url)/auth/keys")
            answers.append([keys.output, try await server.code(), try await server.code()])
            server.program.signal(SIGTERM)
            #expect(try await server.program.result().ending == .exit(0))
        }
        #expect(answers[0] == answers[1] && answers[0][1] != answers[0][2])
    }

    @Test func `the ready file is gone before a start, after a failed one, and after the end`()
        async throws
    {
        let fixture = try await EmulatorFixture()
        let ready = try fixture.folder.write("ready", Array("http://127.0.0.1:1\n".utf8))
        func isThere() -> Bool { FileManager.default.fileExists(atPath: ready) }
        let taken = try await EmulatorFixture().serve()
        let port = try #require(taken.url.split(separator: ":").last)
        let failed = try await fixture.emulator(
            "serve", fixture.path, "--port", String(port), "--ready-file", ready)
        #expect(failed.ending == .exit(75) && !isThere(), "\(failed)")

        for signal in [SIGKILL, SIGTERM] {
            let running = try Executable.product("siwa-emulator").start(
                .init(["serve", fixture.path, "--port", "0", "--ready-file", ready]))
            try await eventually("it is ready") {
                let text = (try? fixture.folder.contents("ready")) ?? []
                let said = try running.outputSoFar()
                return !text.isEmpty
                    && said == "listening on " + String(decoding: text, as: UTF8.self)
            }
            running.signal(signal)
            _ = try await running.result()
            // Nobody can clean up after SIGKILL; the next start does.
            #expect(isThere() == (signal == SIGKILL))
        }
    }

    @Test func `listening on all addresses causes a warning`() async throws {
        let server = try await EmulatorFixture().serve("--listen", "0.0.0.0")
        #expect(server.url.hasPrefix("http://127.0.0.1:"))
        server.program.signal(SIGINT)
        let result = try await server.program.result()
        #expect(result.ending == .exit(0))
        #expect(result.errors.contains("warning: listening on 0.0.0.0"), "\(result)")
    }
}
