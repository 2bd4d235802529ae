import Glibc
import JOSE
import Lifecycle
import TestSupport
import Testing

/// A signal while the database keeps a change waiting.
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

    /// Keeps everybody from the tokens until ``unlock(_:)``.
    private func lock() async throws -> Task<Void, Never> {
        let (server, url) = (server, fixture.url)
        let holder = Task {
            _ = try? await server.run("LOCK TABLE vault_token; SELECT pg_sleep(3600)", on: url)
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

    /// The locks that somebody has on the table, or waits for.
    private func count(_ condition: String) async throws -> Int {
        let text = try await server.run(
            "SELECT count(*) FROM pg_locks WHERE relation = 'vault_token'::regclass "
                + "AND (mode = 'AccessExclusiveLock' OR NOT granted) AND \(condition)",
            on: fixture.url)
        return text.split(separator: "\n").first.flatMap { Int($0) } ?? 0
    }

    @Test func `an import finishes its transaction, and begins no other`() async throws {
        let lines = (1...700).map { #"{"user_id":"u\#($0)","token":"r\#($0)"}"# + "\n" }
        let holder = try await lock()
        let siwa = try fixture.apple.start(
            ["vault", "import", "--timeout", "1h"], input: lines.joined(),
            environment: fixture.environment)
        try await eventually("the import waits") { try await count("NOT granted") > 0 }
        siwa.signal(SIGTERM)
        try await unlock(holder)
        let result = try await siwa.result()
        #expect(result.exitCode == 143, "\(result)")
        #expect(result.errors.contains("500 tokens were imported before it stopped"), "\(result)")
        #expect(try fixture.vault().store.counts(of: nil) == [.active: 500])
        let again = try await fixture.apple.siwa(
            ["vault", "import"], input: lines.joined(), environment: fixture.environment)
        #expect(try again.json["imported"] == 200 && again.json["unchanged"] == 500, "\(again)")
    }

    @Test func `a batch ends although the database does not answer`() async throws {
        _ = try await fixture.store([1, 2, 3])
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/revoke", "delay": "1s", "count": 9])
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
