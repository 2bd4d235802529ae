import CommandTable
import Glibc
import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

@testable import siwa_emulator

/// siwa-emulator as a person runs it.
@Suite struct ProgramTests {
    @Test func `the table of commands is sound`() {
        #expect(emulatorTool.faults() == [])
    }

    @Test func `init makes what siwa and the server read, secrets for the owner alone`()
        async throws
    {
        let site = try await Site()
        let key = try #require(try site.files().first { $0.hasPrefix("AuthKey_") })
        #expect(
            try site.files() == [
                key, "ca.pem", "config.json", "emulator.json", "recipient", "server-key.pem",
                "server.pem",
            ])
        let recipient = try await site.siwa(
            "config", "show", "--profile", "recipient", "--json")
        #expect(recipient.output.contains("/recipient/AuthKey_"), "\(recipient)")
        for name in [key, "server-key.pem"] { #expect(try site.permissions(name) == 0o600) }
        #expect(try site.permissions("") == 0o700)
        let shown = try await site.siwa("config", "show", "--json")
        #expect(shown.ending == .exit(0), "\(shown)")
        #expect(shown.output.contains(try site.member("emulator.json", "team_id")))
    }

    @Test func `init writes nothing over`() async throws {
        let site = try await Site()
        let before = try site.folder.contents("apple/config.json")
        let again = try await site.emulator("init", site.path)
        #expect(again.ending == .exit(3), "\(again)")
        #expect(again.errors.contains("'\(site.path)/config.json' exists already"), "\(again)")
        #expect(again.output.isEmpty)
        #expect(try site.folder.contents("apple/config.json") == before)
        #expect(try site.files().count == 7)
    }

    @Test func `siwa exchanges, refreshes and revokes over TLS`() async throws {
        let site = try await Site()
        let server = try await site.serve("--tls")
        #expect(try server.program.outputSoFar() == "listening on \(server.url)\n")
        #expect(server.url.hasPrefix("https://127.0.0.1:"))
        let code = try await server.code()
        let base = ["--base-url", server.url]
        let exchanged = try await site.siwa(["exchange", "--code", code] + base)
        #expect(exchanged.ending == .exit(0), "\(exchanged)")
        let token = try #require(try JSON(text: exchanged.output)["refresh_token"]?.string)
        let revoked = try await site.siwa(["revoke", "--token", token, "--check-first"] + base)
        #expect(revoked.ending == .exit(0), "\(revoked)")
        let refreshed = try await site.siwa(["refresh", "--token", token] + base)
        #expect(refreshed.ending == .exit(5), "\(refreshed)")
        server.program.signal(SIGTERM)
        #expect(try await server.program.result().ending == .exit(0))
    }

    @Test func `a port in use is temporary, and without --port it takes that of init`()
        async throws
    {
        let server = try await Site().serve()
        let port = String(server.url.split(separator: ":")[2])
        let second = try await Site("--port", port)
        let result = try await second.emulator("serve", second.path)
        #expect(result.ending == .exit(75), "\(result)")
        #expect(result.errors.contains("port \(port) of 127.0.0.1 is in use"), "\(result)")
    }

    @Test func `a certificate that is gone is made anew`() async throws {
        let site = try await Site()
        let before = try site.folder.contents("apple/ca.pem")
        unlink(site.folder.path("apple/server.pem"))
        let server = try await site.serve("--tls")
        #expect(try site.folder.contents("apple/ca.pem") != before)
        #expect(try await server.code().hasPrefix("c"))
        server.program.signal(SIGTERM)
        let errors = try await server.program.result().errors
        #expect(errors.contains("made a new certificate"), "\(errors)")
    }

    @Test func `a certificate about to expire is made anew`() async throws {
        let site = try await Site()
        let files = TLSFiles(folder: Folder(path: site.path))
        let now = 2_000_000_000
        try files.renew(now: now)
        let day = 86_400
        #expect(try files.isGood(now: now))
        #expect(try files.isGood(now: now + 357 * day))
        #expect(try !files.isGood(now: now + 359 * day))
        #expect(try !files.isGood(now: now - 2 * 3600))
    }

    @Test func `listening to everybody is said aloud`() async throws {
        let server = try await Site().serve("--listen", "0.0.0.0")
        #expect(server.url.hasPrefix("http://127.0.0.1:"))
        server.program.signal(SIGINT)
        let result = try await server.program.result()
        #expect(result.ending == .exit(0))
        #expect(result.errors.contains("warning: listening on 0.0.0.0"), "\(result)")
    }
}
