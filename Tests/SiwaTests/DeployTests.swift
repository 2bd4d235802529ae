import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `siwa secret --deploy` with real programs.
@Suite struct DeployTests {
    private let apple: LocalApple
    private let folder: TemporaryFolder

    init() async throws {
        apple = try await LocalApple()
        folder = try TemporaryFolder()
    }

    private func program(_ text: String) throws -> String {
        let path = try folder.write("deploy", "#!/bin/sh\n" + text)
        chmod(path, 0o700)
        return path
    }

    private func call(_ program: String, _ more: String...) -> [String] {
        [
            "secret", "--lifetime", "90d", "--renew-within", "30d", "--out",
            folder.path("secret"), "--deploy", program,
        ] + more
    }

    private var isPending: Bool {
        FileManager.default.fileExists(atPath: folder.path("secret.deploy-pending"))
    }

    @Test func `the program gets the secret, the client, and no other secret`() async throws {
        let path = try program(
            """
            cat > \(folder.path("input"))
            env > \(folder.path("variables"))
            echo deployed
            """)
        let result = try await apple.siwa(
            call(path, "--json"),
            environment: [
                "PATH": "/usr/bin:/bin", "SIWA_VAULT_KEY": "secret", "PGPASSWORD": "secret",
                "KEPT": "yes",
            ])
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.errors.contains("{\"deploy\":{\"line\":\"deployed\"}}\n"), "\(result)")
        #expect(try result.json["deployed"] == true, "\(result)")
        #expect(try folder.contents("input") == folder.contents("secret"))
        let variables = String(decoding: try folder.contents("variables"), as: UTF8.self)
        let expected = try ["team_id", "client_id", "key_id", "expires_at"].map { name in
            let value = try #require(try result.json[name]?.string)
            return "SIWA_\(name.uppercased())=\(value)"
        }
        for line in expected + ["KEPT=yes"] { #expect(variables.contains(line), "\(variables)") }
        #expect(!variables.contains("secret\n"), "\(variables)")
        #expect(!isPending)
    }

    @Test func `a failed deployment is repeated for a fresh file until it succeeds`() async throws {
        let path = try program(
            """
            echo run >> \(folder.path("runs"))
            test -e \(folder.path("ready"))
            """)
        for _ in 0..<2 {
            let result = try await apple.siwa(call(path))
            #expect(result.exitCode == 8, "\(result)")
            #expect(result.output.isEmpty && isPending, "\(result)")
        }
        let minted = try folder.contents("secret")
        try folder.write("ready", "")
        for _ in 0..<2 { #expect(try await apple.siwa(call(path)).exitCode == 0) }
        #expect(!isPending)
        #expect(try folder.contents("secret") == minted)
        #expect(try folder.contents("runs").count == "run\n".utf8.count * 3)
    }

    @Test func `after a kill while the program runs, the next run repairs the deployment`()
        async throws
    {
        let path = try program(
            """
            echo $$ > \(folder.path("started"))
            test -e \(folder.path("ready")) || sleep 600
            """)
        let siwa = try apple.start(call(path))
        try await eventually("the program runs") {
            FileManager.default.fileExists(atPath: folder.path("started"))
        }
        siwa.signal(SIGKILL)
        _ = try await siwa.result()
        end(try await startedProgram())
        #expect(isPending)
        try folder.write("ready", "")
        let again = try await apple.siwa(call(path, "--print", "deployed"))
        #expect(again.output == "true\n", "\(again)")
        #expect(!isPending)
    }

    @Test func `a signal is passed on to the program`() async throws {
        let path = try program(
            """
            trap 'echo stopped; exit 3' TERM
            echo $$ > \(folder.path("started"))
            sleep 600 & wait
            """)
        let siwa = try apple.start(call(path))
        _ = try await startedProgram()
        siwa.signal(SIGTERM)
        let result = try await siwa.result()
        #expect(result.exitCode == 143, "\(result)")
        #expect(result.errors.contains("stopped\n"), "\(result)")
        #expect(isPending)
    }

    private func startedProgram() async throws -> pid_t {
        var pid: pid_t?
        try await eventually("the program runs") {
            let text = String(decoding: (try? folder.contents("started")) ?? [], as: UTF8.self)
            pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))
            return pid != nil
        }
        return try #require(pid)
    }

    /// Ends the process group of a program that lost its parent.
    private func end(_ program: pid_t) { kill(-program, SIGKILL) }
}
