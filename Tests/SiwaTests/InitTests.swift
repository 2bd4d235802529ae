import Foundation
import SIWACrypto
import SIWATestSupport
import Testing

/// `siwa init` as an operator runs it.
@Suite struct InitTests {
    private let folder: TemporaryFolder
    private let siwa: Executable
    private let key: String

    init() throws {
        folder = try TemporaryFolder()
        siwa = try Executable.product("siwa")
        key = try folder.write(
            "AuthKey_K1L2M3N4P5.p8", try P256PrivateKey.generate().pemRepresentation().revealed())
    }

    private var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TERM": "xterm", "SIWA": siwa.path]
    }

    private func run(_ arguments: String...) async throws -> ProgramResult {
        try await siwa.run(.init(arguments, environment: environment))
    }

    private func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path(name))[.posixPermissions]
            as? Int
    }

    @Test func `a script creates a configuration and a vault that work`() async throws {
        // As a browser downloads it.
        chmod(key, 0o644)
        let result = try await run(
            "init", "--team-id", "A1B2C3D4E5", "--key", key, "--client-id", "com.example.app",
            "--vault")
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.output.contains("Next:\n"), "\(result)")
        for name in ["config.json", "AuthKey_K1L2M3N4P5.p8", "vault.db", "vault.key"] {
            #expect(try permissions(".config/siwa/\(name)") == 0o600, "\(name)")
        }
        #expect(try permissions(".config/siwa") == 0o700)
        let secret = try await run("secret", "--strict", "--print", "client_id")
        #expect(secret.output == "com.example.app\n", "\(secret)")
        let check = try await run("vault", "check", "--strict", "--print", "records")
        #expect(check.output == "0\n", "\(check)")
        let again = try await run(
            "init", "--team-id", "B1B2C3D4E5", "--key", key, "--client-id", "other")
        #expect(again.exitCode == 3, "\(again)")
        #expect(try await run("secret", "--print", "team_id").output == "A1B2C3D4E5\n")
    }

    @Test func `a dangling link in place of the configuration leaves no copy of the key`()
        async throws
    {
        let config = try folder.write("conf/empty", "")
        try FileManager.default.removeItem(atPath: config)
        #expect(symlink("nowhere.json", folder.path("conf/config.json")) == 0)
        let result = try await run(
            "init", "--team-id", "A1B2C3D4E5", "--key", key, "--client-id", "com.example.app",
            "--config", folder.path("conf/config.json"))
        #expect(result.exitCode == 3, "\(result)")
        #expect(result.errors.contains("a link to a file that does not exist"), "\(result)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("conf"))
        #expect(names == ["config.json"])
    }

    @Test(.enabled(if: Executable.installed("script") != nil, "needs script(1)"))
    func `a user answers the questions at a terminal`() async throws {
        let script = try #require(Executable.installed("script"))
        let answers = [key, "A1B2C3D4E5", "com.example.app", "com.example.web", "", "n"]
        let result = try await script.run(
            .init(
                ["-qec", "$SIWA init", "/dev/null"], environment: environment,
                input: .text(answers.map { $0 + "\n" }.joined())))
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.output.contains("Team ID ("), "\(result)")
        #expect(try await run("config", "profiles").output == "app\nweb\n")
        let web = try await run("secret", "--profile", "web", "--print", "client_id")
        #expect(web.output == "com.example.web\n", "\(web)")
        #expect(!FileManager.default.fileExists(atPath: folder.path(".config/siwa/vault.db")))
    }

    @Test func `an interrupted run can be repeated`() async throws {
        let arguments = [
            "init", "--team-id", "A1B2C3D4E5", "--key", key, "--client-id", "com.example.app",
        ]
        for _ in 0..<8 {
            let running = try siwa.start(.init(arguments, environment: environment))
            try await Task.sleep(for: .microseconds(.random(in: 0..<30_000)))
            running.signal(SIGKILL)
            _ = try await running.result()
        }
        let last = try await siwa.run(.init(arguments, environment: environment))
        #expect([0, 3].contains(last.exitCode), "\(last)")
        #expect(try await run("secret", "--print", "client_id").output == "com.example.app\n")
    }
}
