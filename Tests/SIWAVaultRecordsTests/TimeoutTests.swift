import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// A vault keeps its caller waiting no longer than its timeout, which a signal may shorten
/// meanwhile. Without that these tests hang, until their time limit.
@Suite(.blocking) struct TimeoutTests {
    /// A timeout of an hour that is over after it was read a few times.
    private func ending(after count: Int) -> StoreTimeout {
        let asked = Mutex(0)
        return StoreTimeout {
            asked.withLock { asked in
                asked += 1
                return asked > count ? .zero : .seconds(3600)
            }
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: SQLBackend.available)
    func `a signal shortens the time limit of a wait for a lock`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        try fixture.vault().put([VaultRecord(.sample(1))])
        let other = try fixture.connect()
        _ = try other.run(other.dialect.beginWriting)
        _ = try other.run("UPDATE vault_token SET stored_at = 1700000005")
        let isSignalled = Mutex(false)
        let asked = Mutex(0)
        let timeout = StoreTimeout {
            guard isSignalled.withLock(\.self) else { return .seconds(3600) }
            return asked.withLock {
                $0 += 1; return $0 > 3 ? .zero : .seconds(3600)
            }
        }
        let store = SQLVaultStore(try fixture.connector(timeout))
        #expect(try store.keyChecks() == [.first])
        isSignalled.withLock { $0 = true }
        let changed = VaultRecord(.sample(1), .dead)
        let error = #expect(throws: StoreError.self) { try store.put([changed]) }
        #expect(error?.isTemporary == true, "\(String(describing: error))")
        isSignalled.withLock { $0 = false }
        _ = try other.run("COMMIT")
        // The cancelled statement left no change, and the store still works.
        try store.put([changed])
        #expect(try store.all() == [changed])
    }

    @Test(.timeLimit(.minutes(1)), arguments: SQLBackend.available)
    func `a statement that takes too long is stopped`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        _ = try fixture.vault()
        let database = try fixture.connector(.eachStatement(.seconds(2))).connect(creating: false)
        let failure = #expect(throws: DatabaseFailure.self) { try database.run(Self.endless) }
        #expect(failure?.error.isTemporary == true, "\(String(describing: failure))")
    }

    /// The tests' server ends such a statement by itself, unless a database sets it otherwise.
    @Test(
        .timeLimit(.minutes(5)),
        .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `the server stops a statement that siwa no longer waits for`() async throws {
        let fixture = try await PostgresStoreFixture()
        _ = try fixture.vault()
        let observer = try fixture.connect()
        _ = try observer.run(
            """
            DO $$ BEGIN EXECUTE format(
                'ALTER DATABASE %I SET client_connection_check_interval = 0', current_database());
            END $$
            """)
        do {
            let database = try fixture.connector(.eachStatement(.seconds(2)))
                .connect(creating: false)
            _ = #expect(throws: DatabaseFailure.self) { try database.run(Self.endless) }
        }
        try await eventually("the server stops it") {
            try observer.run(
                """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                    AND state = 'active' AND query LIKE 'WITH RECURSIVE%'
                """
            ).isEmpty
        }
    }

    private static let endless = """
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 - 1 FROM numbers)
        SELECT count(*) FROM numbers
        """

    @Test func `a limit ends with the call's time or its own, whichever is first`() {
        #expect(WaitLimit(.eachStatement(.zero)).isOver)
        #expect(WaitLimit(.eachStatement(.zero)).slice == 0)
        #expect(WaitLimit(.eachStatement(.seconds(-3))).slice == 0)
        #expect(WaitLimit(.eachStatement(.seconds(3600))).slice == 100)
        #expect(
            WaitLimit(.eachStatement(.seconds(3600)), longest: .seconds(5)).allowed == .seconds(5))
        #expect(WaitLimit(.eachStatement(.seconds(2)), longest: .seconds(5)).allowed == .seconds(2))
        let limit = WaitLimit(ending(after: 2))
        #expect(!limit.isOver)
        #expect(limit.isOver)
    }
}
