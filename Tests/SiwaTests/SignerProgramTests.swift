import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Programs that sign in place of a key file.
@Suite struct SignerProgramTests {
    private let setup: SignerSetup

    init() async throws { setup = try await SignerSetup() }

    @Test func `every command that signs works with a program, and asks it once`() async throws {
        try setup.configure(exec: try setup.script("sign"))
        let secret = try await setup.siwa("secret")
        #expect(secret.exitCode == 0 && secret.output.hasPrefix("eyJ"), "\(secret)")
        let answer = try await setup.siwa("exchange", "--code", try await setup.apple.code())
        let token = try #require(try answer.json["refresh_token"]?.string, "\(answer)")
        #expect(setup.calls == 2)
        #expect(try await setup.siwa("refresh", "--token", token).exitCode == 0)
        #expect(try await setup.siwa("revoke", "--token", token, "--confirm").exitCode == 0)
        #expect(setup.calls == 4)
        let key = try await setup.siwa("public-key")
        #expect(
            key.output == String(decoding: try setup.folder.contents("public.pem"), as: UTF8.self))
        let shown = try await setup.siwa("config", "show")
        #expect(
            shown.output.contains("the program \(setup.folder.path("signer"))")
                && shown.output.contains("public key sha256:"), "\(shown)")
        #expect(setup.calls == 4)
        let doctor = try await setup.siwa("doctor", "--online", "--json")
        #expect(doctor.exitCode == 0, "\(doctor)")
        let checks = try #require(try doctor.json["checks"]?.elements)
        #expect(checks.contains { $0["name"] == "signer" && $0["status"] == "ok" }, "\(doctor)")
    }

    @Test func `a trial needs no configuration`() async throws {
        let path = try setup.script("[ \"$1\" = one ] && [ \"$MINE\" = two ] && sign")
        let profile = try #require(
            try JSON(try setup.apple.folder.contents("apple/config.json"))["profiles"]?["app"])
        func secret(_ more: String...) async throws -> ProgramResult {
            try await setup.apple.siwa(
                [
                    "secret", "--team-id", profile["team_id"]?.string ?? "", "--client-id",
                    "com.example.app", "--key-id", setup.keyID,
                ] + more, environment: ["SIWA_CONFIG": "", "HOME": setup.folder.path])
        }
        let signer = ["--signer", "exec:\(path)"]
        let key = ["--public-key", setup.folder.path("public.pem")]
        let result = try await secret(
            signer[0], signer[1], key[0], key[1], "--signer-arg", "one", "--signer-env", "MINE=two",
            "--signer-timeout", "20s")
        #expect(result.exitCode == 0 && result.output.hasPrefix("eyJ"), "\(result)")
        #expect(try await secret(signer[0], signer[1]).exitCode == 2)
        #expect(try await secret(key[0], key[1]).exitCode == 2)
        #expect(
            try await secret(signer[0], signer[1], key[0], key[1], "--key", "k.p8").exitCode == 2)
        #expect(try await secret("--signer", "exec:relative", key[0], key[1]).exitCode == 2)
    }

    @Test func `a note says that siwa waits for a signer, which may want a touch`() async throws {
        try setup.configure(exec: try setup.script("sleep 3; sign"), timeout: "60s")
        let result = try await setup.siwa("secret", "--timeout", "60s")
        #expect(result.exitCode == 0 && result.output.hasPrefix("eyJ"), "\(result)")
        #expect(
            result.errors.contains("waiting for the signer (touch? confirmation?)"), "\(result)")
    }

    @Test func `a signer needs a Key ID, because no file's name says it`() async throws {
        let result = try await setup.apple.siwa(
            "secret", "--team-id", "A1B2C3D4E5", "--client-id", "com.example.app", "--signer",
            "exec:" + setup.script("sign"), "--public-key", setup.folder.path("public.pem"),
            environment: ["SIWA_CONFIG": "", "HOME": setup.folder.path])
        #expect(result.exitCode == 3 && result.errors.contains("key_id"), "\(result)")
        #expect(setup.calls == 0)
    }

    @Test func `a signer gets its own environment, folder and session, and no descriptors`()
        async throws
    {
        let seen = setup.folder.path("seen")
        try setup.script(
            """
            { env; pwd; umask; ulimit -c; cat /proc/self/stat; ls /proc/$$/fd; } > \(seen)
            sign
            """)
        try setup.configure([
            .init("exec", .array([.string(setup.folder.path("signer"))])),
            .init("env", ["GIVEN", "ABSENT", "SET=yes"]),
        ])
        let result = try await setup.apple.siwa(
            ["secret"],
            environment: setup.environment.merging([
                "GIVEN": "given", "OTHER": "no", "SIWA_VAULT_KEY": "no", "HOME": "/tmp",
            ]) { $1 })
        #expect(result.exitCode == 0, "\(result)")
        let text = String(decoding: try setup.folder.contents("seen"), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        for line in [
            "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp", "GIVEN=given",
            "SET=yes", "/", "0077", "0",
        ] {
            #expect(lines.contains(line), "\(line) is missing: \(text)")
        }
        #expect(!text.contains("SIWA_") && !text.contains("OTHER") && !text.contains("ABSENT"))
        let stat = try #require(lines.first { $0.contains("(cat)") }).split(separator: " ")
        #expect(stat[6] == "0", "it has a terminal: \(text)")
        let descriptors = lines.reversed().prefix { Int($0) != nil }.compactMap { Int($0) }
        // The shell's own begin at 10.
        #expect(descriptors.filter { (3..<10).contains($0) } == [], "\(text)")
    }

    @Test func `a batch of thousands has two secrets signed at most`() async throws {
        try setup.configure(exec: try setup.script("sign"))
        let tokens = (0..<10_000).map { "r.token\($0)\n" }.joined()
        let result = try await setup.apple.siwa(
            [
                "batch", "revoke", "--input", "-", "--max-refused", "100", "--concurrency", "64",
                "--allow-unusual",
            ],
            input: tokens, environment: setup.environment)
        #expect(result.exitCode == 0 || result.exitCode == 1, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count == 10_000)
        #expect((1...2).contains(setup.calls), "\(setup.calls) signatures")
    }

    @Test func `init writes a configuration for a signer`() async throws {
        let path = try setup.script("sign")
        let config = setup.folder.path("made/config.json")
        let profile = try #require(
            try JSON(try setup.apple.folder.contents("apple/config.json"))["profiles"]?["app"])
        let result = try await setup.apple.siwa(
            [
                "init", "--config", config, "--team-id", profile["team_id"]?.string ?? "",
                "--client-id", "com.example.app", "--key-id", setup.keyID, "--signer",
                "exec:\(path)", "--public-key", setup.folder.path("public.pem"), "--base-url",
                setup.apple.url, "--ca-file", setup.apple.folder.path("apple/ca.pem"),
                "--no-vault",
            ], environment: ["SIWA_CONFIG": "", "PATH": "/usr/bin:/bin"])
        #expect(result.exitCode == 0, "\(result)")
        let secret = try await setup.apple.siwa(
            ["secret"], environment: ["SIWA_CONFIG": config, "PATH": "/usr/bin:/bin"])
        #expect(secret.exitCode == 0 && secret.output.hasPrefix("eyJ"), "\(secret)")
        #expect(
            !FileManager.default.fileExists(
                atPath: setup.folder.path("made/AuthKey_\(setup.keyID).p8")))
    }
}
