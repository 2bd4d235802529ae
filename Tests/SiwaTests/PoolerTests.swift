import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// Behind a pooler, a client gets another session of the server with each transaction.
@Suite(.blocking, .enabled(if: Pooler.isAvailable, "needs pgbouncer and PostgreSQL's server"))
struct PoolerTests {
    @Test(.timeLimit(.minutes(5)), arguments: ["transaction", "session"])
    func `a vault works through a connection pooler as without one`(_ mode: String) async throws {
        let fixture = try await VaultFixture(.postgres, Population(usual: 4, all: .migrates))
        let pooler = try await Pooler(PostgresServer.shared(), mode: mode)
        let environment = fixture.environment.merging(
            ["SIWA_VAULT_URL": pooler.url(fixture.databaseName)]) { $1 }
        func siwa(_ words: String...) async throws -> JSON {
            let result = try await fixture.apple.siwa(words, environment: environment)
            #expect(result.exitCode == 0, "\(result)")
            return try result.json
        }
        _ = try await fixture.store(Array(1...4))
        // Enough to be copied.
        let lines = (0..<120).map { #"{"user_id":"more\#($0)","refresh_token":"r.more.\#($0)"}"# }
        let file = try fixture.apple.folder.write("more.jsonl", lines.joined(separator: "\n"))
        let client = "--client-id=com.example.other"
        #expect(try await siwa("vault", "import", file, client)["imported"] == 120)
        async let check = siwa("vault", "check")
        async let rekey = siwa("vault", "rekey")
        #expect(try await check["records"] == 124)
        #expect(try await rekey["resealed"] == 124)
        let batch = try await fixture.apple.siwa(
            "batch", "revoke", "--vault", environment: environment)
        #expect(batch.exitCode == 0, "\(batch)")
        #expect(try fixture.vault().store.counts(of: nil) == [.active: 120, .revoked: 4])
        // Nothing is left in the session that others get.
        let mode = try await PostgresServer.shared().run(
            "SHOW enable_sort", on: pooler.url(fixture.databaseName))
        #expect(mode == "on\n")
    }

    @Test(.timeLimit(.minutes(5)))
    func `for a pooler without transactions, the error names the setting to change`()
        async throws
    {
        let fixture = try await VaultFixture(.postgres, Population(usual: 1, all: .migrates))
        let pooler = try await Pooler(PostgresServer.shared(), mode: "statement")
        let result = try await fixture.apple.siwa(
            "vault", "list",
            environment: fixture.environment.merging(
                ["SIWA_VAULT_URL": pooler.url(fixture.databaseName)]) { $1 })
        #expect(result.exitCode == 75, "\(result)")
        #expect(result.errors.contains("needs pool_mode = transaction"), "\(result)")
    }
}
