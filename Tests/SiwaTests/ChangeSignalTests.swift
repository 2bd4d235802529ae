import Glibc
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// A signal while a change waits for the database.
@Suite(
    .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"),
    .timeLimit(.minutes(5)))
struct ChangeSignalTests {
    private let server: PostgresServer
    private let fixture: VaultFixture

    init() async throws {
        server = try await PostgresServer()
        fixture = try await VaultFixture(
            .postgres, Population(usual: 3, all: .migrates), on: server)
    }

    /// Locks the tokens for reading or for writing until ``unlock(_:)``.
    private func lock(_ mode: String = "ACCESS EXCLUSIVE") async throws -> Task<Void, Never> {
        let (server, url) = (server, fixture.url)
        let holder = Task {
            _ = try? await server.run(
                "LOCK TABLE vault_token IN \(mode) MODE; SELECT pg_sleep(3600)", on: url)
        }
        try await eventually("the table is locked") { try await count("granted") > 0 }
        return holder
    }

    private func unlock(_ holder: Task<Void, Never>) async throws {
        _ = try await server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                + "WHERE query LIKE '%pg_sleep(3600)' AND pid <> pg_backend_pid()", on: fixture.url)
        await holder.value
    }

    /// The locks on the table, held or waited for.
    private func count(_ condition: String) async throws -> Int {
        let text = try await server.run(
            "SELECT count(*) FROM pg_locks WHERE relation = 'vault_token'::regclass "
                + "AND (mode IN ('AccessExclusiveLock', 'ShareLock') OR NOT granted) "
                + "AND \(condition)",
            on: fixture.url)
        return text.split(separator: "\n").first.flatMap { Int($0) } ?? 0
    }

    @Test func `an interrupted import finishes its transaction and starts no other`() async throws {
        let lines = (1...3000).map { #"{"user_id":"u\#($0)","token":"r\#($0)"}"# + "\n" }
        let holder = try await lock()
        let siwa = try fixture.apple.start(
            ["vault", "import", "--timeout", "1h"], input: lines.joined(),
            environment: fixture.environment)
        try await eventually("the import waits") { try await count("NOT granted") > 0 }
        siwa.signal(SIGTERM)
        try await unlock(holder)
        let result = try await siwa.result()
        #expect(result.exitCode == 143, "\(result)")
        #expect(result.errors.contains("2500 tokens were imported before it stopped"), "\(result)")
        #expect(try fixture.vault().store.counts(of: nil) == [.active: 2500])
        let again = try await fixture.apple.siwa(
            ["vault", "import"], input: lines.joined(), environment: fixture.environment)
        #expect(try again.json["imported"] == 500 && again.json["unchanged"] == 2500, "\(again)")
    }

    /// Runs a command that changes 700 tokens, and sends it SIGTERM during its first transaction.
    private func interrupted(_ arguments: [String]) async throws -> ProgramResult {
        let holder = try await lock("SHARE")
        let siwa = try fixture.apple.start(
            arguments + ["--timeout", "1h"], environment: fixture.environment)
        try await eventually("the command waits") { try await count("NOT granted") > 0 }
        siwa.signal(SIGTERM)
        try await unlock(holder)
        let result = try await siwa.result()
        #expect(result.exitCode == 143 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("to continue, run it again"), "\(result)")
        return result
    }

    /// Imports 700 tokens.
    private func fill(_ more: String = "") async throws {
        let lines = (1...700).map { #"{"user_id":"u\#($0)","token":"r\#($0)"\#(more)}"# + "\n" }
        let result = try await fixture.apple.siwa(
            ["vault", "import"], input: lines.joined(), environment: fixture.environment)
        #expect(result.exitCode == 0, "\(result)")
    }

    @Test func `an interrupted rekey is completed by the next run`() async throws {
        try await fill()
        let result = try await interrupted(["vault", "rekey"])
        #expect(
            result.errors.contains("500 records were encrypted again before it stopped"),
            "\(result)")
        let vault = try fixture.vault()
        #expect(vault.currentKey == 2)
        let left = try vault.store.records(
            VaultFilter(notSealedWith: 2), after: nil, limit: 1000)
        #expect(left.records.count == 200)
        let again = try await fixture.apple.siwa("vault", "rekey", environment: fixture.environment)
        #expect(try again.json["key_number"] == 2 && again.json["resealed"] == 200, "\(again)")
        #expect(try fixture.opened().count == 700)
    }

    @Test func `an interrupted remap keeps moved tokens, and the next run moves the others`()
        async throws
    {
        try await fill()
        let lines = (1...700).map {
            #"{"old_user_id":"u\#($0)","user_id":"n\#($0)","status":"done"}"# + "\n"
        }
        let file = try fixture.apple.folder.write("imported", lines.joined())
        let result = try await interrupted(["vault", "remap", file])
        #expect(result.errors.contains("500 tokens were moved before it stopped"), "\(result)")
        let again = try await fixture.apple.siwa(
            "vault", "remap", file, environment: fixture.environment)
        #expect(try again.json["moved"] == 200 && again.json["absent"] == 500, "\(again)")
        let users = try fixture.opened().keys.map(\.userID.rawValue)
        #expect(users.count == 700 && users.allSatisfy { $0.hasPrefix("n") })
    }

    @Test func `an interrupted prune keeps its removals, and the next run removes the others`()
        async throws
    {
        try await fill(#","state":"revoked","changed_at":"2020-01-01T00:00:00Z""#)
        let prune = ["vault", "prune", "--older-than", "1d"]
        let result = try await interrupted(prune)
        #expect(result.errors.contains("500 tokens were removed"), "\(result)")
        #expect(try fixture.vault().store.counts(of: nil) == [.revoked: 200])
        let again = try await fixture.apple.siwa(prune, environment: fixture.environment)
        #expect(try again.exitCode == 0 && again.json["pruned"] == 200, "\(again)")
    }

    @Test func `a batch ends even if the database does not answer`() async throws {
        _ = try await fixture.store([1, 2, 3])
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/revoke", "delay": "10s", "count": 9])
        let siwa = try fixture.apple.start(
            ["batch", "revoke", "--vault", "--timeout", "1h"], environment: fixture.environment)
        try await eventually("Apple has the revocations") {
            try await fixture.apple.requests(to: "/auth/revoke").count == 3
        }
        let holder = try await lock()
        try await eventually("the batch waits") { try await count("NOT granted") > 0 }
        siwa.signal(SIGTERM)
        let result = try await siwa.result()
        #expect(result.exitCode == 143, "\(result)")
        #expect(!result.errors.contains("hung"), "the watchdog had to end it: \(result)")
        #expect(result.errors.contains("0 done"), "\(result)")
        try await unlock(holder)
        let next = try await fixture.apple.siwa(
            "vault", "list", "--state", "revoking", environment: fixture.environment)
        #expect(next.exitCode == 0 && next.output.split(separator: "\n").count == 4, "\(next)")
    }
}
