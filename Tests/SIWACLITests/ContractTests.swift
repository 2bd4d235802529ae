import SIWACLI
import SIWACommandTable
import SIWAJOSE
import SIWATestSupport
import Testing

@testable import SIWAApplication

/// What users of siwa rely on (docs/compatibility.md), compared with docs/contract/siwa.
@Suite struct ContractTests {
    @Test func `commands, flags, variables and exit codes are as recorded`() throws {
        try checkContract(siwaTool.contract(), "siwa/commands.txt")
    }

    @Test func `the members of results, errors and metrics are the recorded ones`() async throws {
        var run = try await ContractRun()
        try await run.runCommands()
        try await run.runVaultCommands()
        try await run.runBatches()
        try checkContract(run.members, "siwa/members.txt")
        try checkContract(run.metrics, "siwa/metrics.txt")
    }
}

/// Runs commands, and collects the members that their results have.
private struct ContractRun {
    private(set) var members: Set<String> = []
    private(set) var metrics: Set<String> = []
    private let harness: CommandHarness

    init() async throws {
        harness = try await CommandHarness()
        harness.memory.with { $0.variables["SIWA_VAULT_URL"] = "sqlite:/siwa/vault.db" }
    }

    /// - Parameter command: how many words of the line name the command.
    @discardableResult
    private mutating func run(_ line: String..., command: Int = 1) async throws -> String {
        let name = line.prefix(command).joined(separator: " ")
        let outcome = await harness.run(line)
        try #require([0, 1].contains(outcome.exitCode), "\(outcome)")
        let documents =
            (try? [JSON(text: outcome.output)])
            ?? outcome.output.split(separator: "\n").compactMap { try? JSON(text: String($0)) }
        try #require(!documents.isEmpty, "\(outcome)")
        for document in documents { add(document, name) }
        for line in outcome.errors {
            if let note = try? JSON(text: line) { add(note, "standard error") }
        }
        return outcome.output
    }

    /// Members whose names are data, not words of the contract.
    private static let maps = [".keys", ".header", ".claims", ".settings"]

    private mutating func add(_ json: JSON, _ path: String) {
        members.insertMembers(of: json, at: path, maps: Self.maps)
    }

    private mutating func read(_ path: String) {
        metrics.insertMetrics(
            of: harness.memory.with { state in
                String(decoding: state.files[path]?.contents ?? [], as: UTF8.self)
            })
    }

    mutating func runCommands() async throws {
        try await run("secret", "--json")
        try await run(
            "secret", "--json", "--out", "/var/secret", "--deploy", "/bin/hook", "--metrics",
            "/var/a.prom")
        read("/var/a.prom")
        let (code, token) = try await harness.signIn("com.example.app")
        try await run("inspect", token)
        try await run("inspect", "@/var/secret")
        try await run("verify", token)
        let answer = try JSON(text: try await run("exchange", "--code", code))
        let refreshToken = try #require(answer["refresh_token"]?.string)
        try await run("refresh", "--token", refreshToken, "--dry-run")
        try await run("refresh", "--token", refreshToken)
        try await run("revoke", "--token", refreshToken, "--check-first")
        let shapes = try await Fixtures.shared.value.shapes
        let keys = try #require(shapes["APPLE_KEYS"])
        harness.memory.with { $0.files["/tmp/keys"] = .init(contents: Array(keys.utf8)) }
        let notification = try #require(shapes["APPLE_NOTIFICATION"])
        try await run(
            "notification", notification, "--jwks", "/tmp/keys", "--audience",
            "jp.yauth.signin.app", "--at", "2022-07-12T12:00:00Z")
        try await run("keys")
        try await run("public-key", "--json")
        try await run("manual", "--json")
        try await run("manual", "--all", "/tmp/man1", "--json")
        try await run("completions", "bash", "--json")
        try await run(
            "authorize-url", "--json", "--redirect-uri", "https://example.com/callback")
        try await run("doctor", "--json")
        for name in ["show", "path", "profiles"] {
            try await run("config", name, "--json", command: 2)
        }
        try await run(
            "init", "--config", "/etc/siwa/config.json", "--team-id", "A1B2C3D4E5", "--key",
            "/siwa/AuthKey_K1L2M3N4P5.p8", "--client-id", "com.example.app", "--json")
        let refused = await harness.run(["refresh", "--token", "r-hush", "--json"])
        for line in refused.errors { add(try JSON(text: line), "standard error") }
    }

    mutating func runVaultCommands() async throws {
        try await run("vault", "init", command: 2)
        let (code, _) = try await harness.signIn("com.example.app")
        let stored = try JSON(text: try await run("exchange", "--code", code, "--store"))
        let user = try #require(stored["user_id"]?.string)
        try await run("refresh", "--user", user)
        try await run("refresh", "--user", user, "--all")
        try await run("vault", "list", "--json", command: 2)
        try await run("vault", "show", user, command: 2)
        let export = try await run("vault", "export", "--reveal", command: 2)
        harness.memory.with { $0.files["/tmp/export"] = .init(contents: Array(export.utf8)) }
        try await run("vault", "import", "/tmp/export", command: 2)
        try await run("vault", "check", "--metrics", "/var/v.prom", command: 2)
        read("/var/v.prom")
        try await run("vault", "rekey", command: 2)
        try await run("revoke", "--user", user, "--check-first")
        try await run("vault", "history", user, "--json", command: 2)
        try await run("vault", "prune", "--older-than", "90d", command: 2)
        try await run("vault", "history", "prune", "--older-than", "90d", command: 3)
        try await run("vault", "remove", user, command: 2)
    }

    mutating func runBatches() async throws {
        var lines: [String] = []
        var tokens: [String] = []
        for _ in 0..<2 {
            let (code, identityToken) = try await harness.signIn("com.example.app")
            let outcome = await harness.run(["exchange", "--code", code])
            let token = try JSON(text: outcome.output)["refresh_token"]?.string
            lines.append(try #require(token))
            tokens.append(identityToken)
        }
        let bad = ["r-hush", "{}"]
        let files = [
            "/tmp/tokens": lines + bad, "/tmp/identity": tokens + bad,
            "/tmp/users": ["001234.0123456789abcdef.0830", "000000.00.0000"],
        ]
        harness.memory.with { state in
            for (name, lines) in files {
                let text = lines.map { $0 + "\n" }.joined()
                state.files[name] = .init(contents: Array(text.utf8))
            }
        }
        for name in ["refresh", "revoke"] {
            try await run(
                "batch", name, "--input", "/tmp/tokens", "--json", "--metrics", "/var/b.prom",
                command: 2)
        }
        read("/var/b.prom")
        try await run(
            "batch", "verify", "--input", "/tmp/identity", "--json", "--metrics", "/var/k.prom",
            command: 2)
        read("/var/k.prom")
        try await run(
            "migrate", "export", "--to-team", "R1C2P3N4T5", "--input", "/tmp/users", "--json",
            command: 2)
    }
}
