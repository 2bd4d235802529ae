import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// `siwa vault copy` as a program: its output, and kills at random moments.
@Suite(.blocking) struct VaultCopyKillTests {
    /// A source on a backend, and an empty database to move to.
    private struct Move {
        let fixture: VaultFixture
        let target: String
        let running: VaultBackend.Running

        init(_ source: VaultBackend, to target: VaultBackend, tokens: Int) async throws {
            fixture = try await VaultFixture(source, Population(usual: 1, all: .migrates))
            let folder = try TemporaryFolder()
            running = try await target.start(in: folder, on: nil)
            self.folder = folder
            self.target = running.url
            try ServerStore(fixture.url, timeout: .eachStatement(.seconds(60)))
                .prepare(isAlone: true)
            if tokens > 0 { try fixture.storeMade(1...tokens) }
        }

        private let folder: TemporaryFolder

        var arguments: [String] { ["vault", "copy", "--to", target] }

        func siwa(_ arguments: String..., at url: String? = nil) async throws -> ProgramResult {
            var environment = fixture.environment
            if let url { environment["SIWA_VAULT_URL"] = url }
            return try await Executable.product("siwa").run(
                Executable.Call(arguments, environment: environment, limit: .seconds(300)))
        }

        func copy(_ more: String...) async throws -> ProgramResult {
            try await Executable.product("siwa").run(
                Executable.Call(
                    arguments + more, environment: fixture.environment, limit: .seconds(300)))
        }
    }

    static let ways = VaultBackend.available.flatMap { source in
        VaultBackend.available.map { (source, $0) }
    }

    @Test(arguments: ways)
    func `a vault is counted, moved, and used at its new place with the same key`(
        _ source: VaultBackend, _ target: VaultBackend
    ) async throws {
        let move = try await Move(source, to: target, tokens: 20)
        let preview = try await move.copy("--dry-run")
        #expect(preview.exitCode == 0, "\(preview)")
        #expect(try preview.json["dry_run"] == true)
        #expect(try await move.siwa("vault", "check", at: move.target).exitCode == 3)
        let result = try await move.copy()
        #expect(result.exitCode == 0, "\(result)")
        let tables = try #require(try result.json["tables"]?.elements)
        let tokens = tables.first { $0["table"] == "vault_token" }
        #expect(tokens?["rows"] == 20 && tokens?["digest"]?.string?.count == 64)
        #expect(try result.json["rows"] == preview.json["rows"])
        #expect(try result.json["tables"] == preview.json["tables"])
        let checked = try await move.siwa("vault", "check", at: move.target)
        #expect(try checked.json["records"] == 20)
        // The old vault is there, and refuses changes.
        for command in ["list", "check"] {
            let shown = try await move.siwa("vault", command)
            #expect(shown.exitCode == 0 && shown.errors.contains("was moved to"), "\(shown)")
            let new = try await move.siwa("vault", command, at: move.target)
            #expect(new.exitCode == 0 && !new.errors.contains("moved"), "\(new)")
        }
        let status = try await move.siwa("status")
        #expect(status.exitCode == 1 && status.output.contains("was moved to"), "\(status)")
        #expect(status.output.contains("Set vault.url to the new place."), "\(status)")
        // The key file is that of the new place, too.
        let keyFile = try #require(move.fixture.environment["SIWA_VAULT_KEY_FILE"])
        let keys = try Data(contentsOf: URL(filePath: keyFile))
        for arguments in [["vault", "rekey"], ["vault", "rekey", "--prepare"]] {
            let refused = try await Executable.product("siwa").run(
                Executable.Call(arguments, environment: move.fixture.environment))
            #expect(refused.exitCode == 3 && refused.errors.contains("was moved to"), "\(refused)")
        }
        #expect(try Data(contentsOf: URL(filePath: keyFile)) == keys)
        let removed = try await move.siwa("vault", "remove", "nobody", "--client-id", "c.d.e")
        #expect(removed.exitCode == 3, "\(removed)")
        #expect(removed.errors.contains("was moved to"))
        try await checkNothingIsSent(move)
        let again = try await move.copy()
        #expect(again.exitCode == 0 && again.errors.contains("earlier run"), "\(again)")
        #expect(try await move.copy("--abort").exitCode == 3)
    }

    /// A code is not spent for a vault that cannot take its token.
    private func checkNothingIsSent(_ move: Move) async throws {
        let apple = move.fixture.apple
        let user = move.fixture.people.name(1)
        let code = try await apple.code(for: "com.example.app", [.init("user", .string(user))])
        let before = try await apple.requests().count
        let exchanged = try await apple.siwa(
            "exchange", "--code", code, "--store", environment: move.fixture.environment)
        #expect(exchanged.exitCode == 3 && exchanged.errors.contains("was moved"), "\(exchanged)")
        #expect(try await apple.requests().count == before)
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
    func `no message contains the password of the target`() async throws {
        let move = try await Move(.sqlite, to: .postgres, tokens: 1)
        let parts = try #require(URLComponents(string: move.target))
        var url = parts
        (url.user, url.password) = (parts.user ?? "siwa", "r-hush-password")
        let target = try #require(url.string)
        let results = [
            try await move.siwa("vault", "copy", "--to", target, "--dry-run"),
            try await move.siwa("vault", "copy", "--to", target),
            try await move.siwa("vault", "remove", "nobody", "--client-id", "c.d.e"),
        ]
        #expect(results.map(\.exitCode) == [0, 0, 3], "\(results)")
        for result in results {
            #expect(!(result.output + result.errors).contains("r-hush"), "\(result)")
        }
        let row = try connector(of: move.fixture.url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false).run("SELECT place FROM vault_schema")
        #expect(row.first?.first?.text?.hasPrefix("postgresql://") == true, "\(row)")
        #expect(row.first?.first?.text?.contains("r-hush") == false)
    }

    @Test func `usage errors change nothing`() async throws {
        let move = try await Move(.sqlite, to: .sqlite, tokens: 1)
        #expect(try await move.copy("--dry-run", "--abort").exitCode == 2)
        #expect(try await move.siwa("vault", "copy").exitCode == 2)
        #expect(try await move.siwa("vault", "copy", "--to", "mysql://x").exitCode == 2)
        #expect(
            try await move.siwa("vault", "copy", "--to", move.fixture.url).exitCode == 3)
        #expect(try await move.copy("--abort", "--print", "aborted").output == "false\n")
        #expect(
            try await move.siwa("vault", "remove", "nobody", "--client-id", "c.d.e").exitCode == 1)
    }

    @Test(.timeLimit(.minutes(30)), arguments: ways)
    func `after kills at any moment, the same command completes the copy`(
        _ source: VaultBackend, _ target: VaultBackend
    ) async throws {
        let random = SeededRandom.announced(for: "kills of vault copy, \(source) to \(target)")
        let count = wished("SIWA_COPY_RECORDS", usual: 4_000)
        let clock = ContinuousClock()
        let whole = try await Move(source, to: target, tokens: count)
        let start = clock.now
        #expect(try await whole.copy().exitCode == 0)
        let usual = clock.now - start
        let kills = wished("SIWA_COPY_KILLS", usual: 6)
        var moments = KillMoments(within: usual, random)
        var aborted = 0
        var move = try await Move(source, to: target, tokens: count)
        let expected = try Self.tokens(move.fixture.url)
        for kill in 0..<kills {
            try await moments.strike {
                try Executable.product("siwa").start(
                    Executable.Call(
                        move.arguments, environment: move.fixture.environment, limit: .seconds(300))
                )
            }
            guard kill % 3 == 2 || kill == kills - 1 else { continue }
            if kill % 2 == 0, try await move.copy("--abort").exitCode == 0 {
                aborted += 1
                #expect(try Self.tokens(move.fixture.url) == expected)
                #expect(
                    try await move.siwa("vault", "remove", "nobody", "--client-id", "c.d.e")
                        .exitCode == 1)
            }
            let result = try await move.copy()
            #expect(result.exitCode == 0, "\(result)")
            let isSame = try Self.tokens(move.target) == expected
            #expect(isSame, "the target differs after \(kill + 1) kills")
            if kill < kills - 1 { move = try await Move(source, to: target, tokens: count) }
        }
        print("kills of vault copy, \(source) to \(target): \(kills), \(aborted) aborted")
    }

    /// Users and fingerprints, in their order: sealing is random, so that two vaults differ in it.
    private static func tokens(_ url: String) throws -> [[Value]] {
        try connector(of: url, timeout: .eachStatement(.seconds(60))).connect(creating: false)
            .run(
                """
                SELECT client_id, user_id, token_fingerprint FROM vault_token
                ORDER BY client_id, user_id, token_fingerprint
                """)
    }

    /// The pages are the only rows in memory. SQLite has a cache besides.
    @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
    func `memory use does not grow with the number of rows`() async throws {
        func peak(_ tokens: Int) async throws -> Int {
            let move = try await Move(.postgres, to: .postgres, tokens: tokens)
            let program = try Executable.product("siwa").start(
                Executable.Call(
                    move.arguments, environment: move.fixture.environment, limit: .seconds(300)))
            var peak = 0
            while !program.hasEnded {
                peak = max(peak, Self.peakMemory(program.pid) ?? 0)
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(try await program.result().exitCode == 0)
            return peak
        }
        let (few, many) = (try await peak(2_000), try await peak(42_000))
        // 40,000 rows more, of about 300 bytes each.
        #expect(few > 0 && many - few < 4 << 10, "\(few) and \(many) KiB")
    }

    /// The most memory that a process has had, in KiB (proc(5), VmHWM).
    private static func peakMemory(_ process: pid_t) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        return status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            .flatMap { line in Int(line.filter(\.isNumber)) }
    }
}
