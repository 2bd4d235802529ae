import Foundation
import Glibc
import SIWACrypto
import SIWAJOSE
import SIWATestSupport
import Testing

/// Which files `siwa` reads, replaces and keeps.
@Suite struct FileRuleTests {
    private let apple: LocalApple
    private let folder: TemporaryFolder

    init() async throws {
        apple = try await LocalApple()
        folder = try TemporaryFolder()
    }

    private func key(of apple: LocalApple) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: apple.folder.path("apple"))
        return apple.folder.path("apple/\(try #require(names.first { $0.hasSuffix(".p8") }))")
    }

    @Test func `--out and --report do not overwrite a key, a vault, its key or a configuration`()
        async throws
    {
        let vault = ["SIWA_VAULT_URL": "sqlite:\(folder.path("vault.db"))"]
        #expect(try await apple.siwa(["vault", "init"], environment: vault).exitCode == 0)
        let copy = try folder.write(
            "K.p8", Array(try Data(contentsOf: URL(filePath: key(of: apple)))))
        try folder.write("config.json", try apple.folder.contents("apple/config.json"))
        #expect(link(copy, folder.path("hard")) == 0)
        #expect(symlink("K.p8", folder.path("soft")) == 0)
        for name in ["K.p8", "hard", "soft", "vault.db", "vault.key", "config.json"] {
            let before = try folder.contents(name)
            for arguments in [["secret", "--out"], ["doctor", "--online", "--report"]] {
                let result = try await apple.siwa(arguments + [folder.path(name)])
                #expect(result.exitCode == 2, "\(result)")
                #expect(result.errors.contains("cannot replace"), "\(result)")
                #expect(result.output.isEmpty, "\(result)")
            }
            #expect(try folder.contents(name) == before, "\(name)")
        }
        #expect(try await apple.requests().isEmpty)
        #expect(try await apple.siwa(["vault", "check"], environment: vault).exitCode == 0)
    }

    @Test func `--out and --report replace their own files, and write to streams directly`()
        async throws
    {
        let secret = ["secret", "-q", "--out", folder.path("secret")]
        let report = ["doctor", "--online", "--report", folder.path("report")]
        for _ in 0..<2 {
            for arguments in [secret, report] {
                let result = try await apple.siwa(arguments)
                #expect(result.exitCode == 0, "\(result)")
            }
        }
        let printed = try await apple.siwa("secret", "-q", "--out", "/dev/stdout")
        #expect(printed.output.hasPrefix("eyJ"), "\(printed)")
        #expect(try await apple.siwa("secret", "-q", "--out", "/dev/null").exitCode == 0)
    }

    @Test func `a pipe as the file of metrics is refused immediately`() async throws {
        let path = folder.path("siwa.prom")
        #expect(mkfifo(path, 0o600) == 0)
        let result = try await apple.siwa("secret", "--metrics", path)
        #expect(result.exitCode == 2, "\(result)")
        #expect(result.errors.contains("it is not a regular file"), "\(result)")
        #expect(result.output.isEmpty)
    }

    @Test func `siwa does not wait for a pipe in place of the cached keys`() async throws {
        let verify = try await apple.verify()
        #expect(try await apple.siwa(verify).exitCode == 0)
        let cache = apple.folder.path("cache/siwa")
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: cache)
                .first { $0.hasSuffix(".json") })
        try FileManager.default.removeItem(atPath: "\(cache)/\(name)")
        #expect(mkfifo("\(cache)/\(name)", 0o600) == 0)
        let result = try await apple.siwa(verify)
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.errors.contains("it is not a regular file"), "\(result)")
    }

    @Test func `with --json, the program's output is printed as JSON objects, one per line`()
        async throws
    {
        let program = try folder.write(
            "deploy", "#!/bin/sh\necho one\ncat >&2\nprintf 'no end'")
        chmod(program, 0o700)
        let result = try await apple.siwa(
            "secret", "--lifetime", "90d", "--out", folder.path("secret"), "--deploy", program,
            "--json")
        #expect(result.exitCode == 0, "\(result)")
        let lines = try result.errors.split(separator: "\n").map { try JSON(text: String($0)) }
        let deployed = lines.compactMap { $0["deploy"]?["line"]?.string }
        #expect(deployed == ["one", "(secret, not shown)", "no end"], "\(result)")
    }

    @Test func `a byte order mark is accepted in every file that siwa reads`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        let key = try key(of: apple)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let vault = ["SIWA_VAULT_URL": "sqlite:\(apple.folder.path("vault.db"))"]
        #expect(try await apple.siwa(["vault", "init"], environment: vault).exitCode == 0)
        for path in [
            "apple/config.json", "apple/emulator.json", "vault.key",
            String(key.dropFirst(apple.folder.path.utf8.count + 1)),
        ] {
            try apple.folder.write(path, mark + (try apple.folder.contents(path)))
        }
        let code = try await apple.code()
        try folder.write("code", mark + Array(code.utf8))
        let stored = try await apple.siwa(
            ["exchange", "--code", "@\(folder.path("code"))", "--store", "--print", "stored"],
            environment: vault)
        #expect(stored.output == "true\n", "\(stored)")
        _ = try await apple.stop()
        let again = try apple.serveAgain()
        try await eventually("the emulator reads its marked file") {
            try again.outputSoFar().contains("listening")
        }
        let keys = try await apple.siwa("keys", "--refresh")
        #expect(keys.exitCode == 0, "\(keys)")
        again.end()
    }

    @Test func `a limit of open files is named in the error`() async throws {
        let vault = ["SIWA_VAULT_URL": "sqlite:\(folder.path("vault.db"))"]
        #expect(try await apple.siwa(["vault", "init"], environment: vault).exitCode == 0)
        for (limit, arguments) in [
            (4, ["vault", "list"]), (5, ["vault", "list"]),
            (4, ["vault", "check"]), (4, ["refresh", "--token", "r"]),
        ] {
            let result = try await limited("ulimit -n \(limit)", arguments, vault)
            #expect(result.exitCode != 0, "\(limit): \(result)")
            #expect(result.output.contains("ulimit -n"), "\(limit): \(result)")
            #expect(!result.output.contains("vault.url"), "\(limit): \(result)")
            #expect(!result.output.contains("the disk"), "\(limit): \(result)")
        }
    }

    @Test func `a file size limit is named if a vault cannot grow`() async throws {
        let vault = ["SIWA_VAULT_URL": "sqlite:\(folder.path("vault.db"))"]
        let result = try await limited("ulimit -f 8", ["vault", "init"], vault)
        #expect(result.exitCode != 0, "\(result)")
        #expect(result.output.contains("ulimit -f"), "\(result)")
        #expect(!result.output.contains("free "), "\(result)")
    }

    /// Runs siwa with a limit of the shell; its standard error is a pipe.
    private func limited(
        _ limit: String, _ arguments: [String], _ environment: [String: String]
    ) async throws -> ProgramResult {
        let script = "set -o pipefail; (\(limit); exec \"$0\" \"$@\") 2>&1 >/dev/null | cat"
        let settings = [
            "SIWA_CONFIG": apple.folder.path("apple/config.json"), "PATH": "/usr/bin:/bin",
            "SIWA_BASE_URL": apple.url,
        ]
        let result = try await Executable(path: "/bin/bash").run(
            Executable.Call(
                ["-c", script, try Executable.product("siwa").path] + arguments,
                environment: settings.merging(environment) { $1 }))
        return result
    }

    @Test func `https to a port that serves http is reported as such`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        let https = apple.url.replacing("http://", with: "https://")
        let result = try await apple.siwa(
            "refresh", "--token", "r", "--base-url", https, "--max-attempts", "1")
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.hints.first?.contains("speaks https, not http") == true, "\(result)")
    }
}
