import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Queries that select few of many rows read them in stretches, and a run reads each row about once.
@Suite(.blocking) struct StretchTests {
    /// Leaves out what is encrypted with key 2.
    private static let filter = VaultFilter(clientID: .sample, notSealedWith: 2)

    /// A store whose statements are counted, with records that the filter leaves out in front of
    /// those that it selects.
    private func watched(
        _ fixture: any SQLStoreFixture, leftOut: Int, selected: Int
    ) throws -> (store: SQLVaultStore, statements: (() throws -> Void) throws -> [String]) {
        let first = (0..<leftOut).map { VaultRecord(.sample($0), key: 2, checkedAt: 10) }
        let others = (leftOut..<leftOut + selected).map {
            VaultRecord(.sample($0), checkedAt: 1000)
        }
        try fixture.vault().putOfTwoKeys(first + others)
        let connector = WatchedConnector(base: try fixture.connector(timeout: .seconds(60)))
        let store = SQLVaultStore(connector)
        _ = try store.keyChecks()
        return (
            store,
            { body in
                connector.seen.statements.withLock { $0 = [] }
                try body()
                // Every transaction reads the version and the mark.
                return connector.seen.statements.withLock { $0.map(\.sql) }
                    .filter { !$0.contains("FROM vault_schema") }
                    .filter { $0.hasPrefix("SELECT") && $0.contains("FROM vault_") }
            }
        )
    }

    @Test(arguments: SQLBackend.available)
    func `a claim does not read again the rows that earlier claims passed`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let (store, statements) = try watched(fixture, leftOut: 100, selected: 12)
        var (costs, claimed): ([Int], [VaultUser]) = ([], [])
        var isComplete = false
        while !isComplete {
            let cost = try statements {
                let next = try store.claimed(.long("a"), Self.filter, limit: 4)
                claimed += next.records.map(\.user)
                isComplete = next.isComplete
            }.count
            costs.append(cost)
        }
        #expect(claimed == (100..<112).map { .sample($0) })
        // The first row, stretches of 8, 16, 32 and 64 rows, and then one at a time.
        #expect(costs.prefix(3) == [9, 2, 2], "\(costs)")
        #expect(costs.count == 4, "\(costs)")
    }

    @Test(arguments: SQLBackend.available)
    func `a row that is added to a passed place is claimed before the search is complete`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let (store, _) = try watched(fixture, leftOut: 20, selected: 6)
        #expect(try store.claimed(.long("a"), Self.filter, limit: 4).records.count == 4)
        let late = VaultRecord(.sample(0, of: ClientID.sample.rawValue), token: 5, key: 2)
        try fixture.store().put([late])
        try fixture.run(
            "UPDATE vault_token SET key_number = 1 WHERE token_fingerprint = '000000000005'")
        var claimed: [VaultRecord] = []
        while case let next = try store.claimed(.long("a"), Self.filter, limit: 4), !next.isComplete
        {
            claimed += next.records
        }
        #expect(Set(claimed.map(\.id)).contains(late.id) && claimed.count == 3)
    }

    @Test(
        .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `a row that was locked when a claim passed it is claimed before the search is complete`()
        async throws
    {
        let fixture = try await SQLBackend.postgres.fixture()
        let (store, _) = try watched(fixture, leftOut: 5, selected: 6)
        let other = try fixture.connect()
        try other.begin(.writing)
        _ = try other.run("SELECT 1 FROM vault_token WHERE user_id = 'u000006' FOR UPDATE")
        let first = try store.claimed(.long("a"), Self.filter, limit: 4).records.map(\.user)
        #expect(first == [.sample(5), .sample(7), .sample(8), .sample(9)])
        other.rollBack()
        #expect(try store.claim(.long("a"), Self.filter) == [.sample(10)])
        #expect(try store.claim(.long("a"), Self.filter) == [.sample(6)])
        #expect(try store.claimed(.long("a"), Self.filter, limit: 1).isComplete)
    }

    @Test(arguments: SQLBackend.available)
    func `a claim that finds nothing reads a limited number of rows`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let (store, statements) = try watched(fixture, leftOut: 1, selected: 0)
        let numbers =
            backend == .sqlite
            ? """
            (WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50000)
                SELECT n FROM numbers) AS numbers
            """ : "generate_series(1, 50000) AS numbers(n)"
        try fixture.run(
            """
            INSERT INTO vault_token (client_id, user_id, token_fingerprint, state, key_number, sealed,
                stored_at, changed_at, lease_until)
            SELECT client_id, CAST(n AS TEXT), token_fingerprint, state, key_number, sealed,
                stored_at, changed_at, n FROM vault_token, \(numbers)
            """)
        var costs: [Int] = []
        var isComplete = false
        while !isComplete {
            costs.append(
                try statements {
                    let next = try store.claimed(.long("a"), Self.filter, limit: 100)
                    #expect(next.records == [])
                    isComplete = next.isComplete
                }.count)
        }
        // 20,000 to 40,000 rows each.
        #expect((2...3).contains(costs.count), "\(costs)")
        let bounded = try statements { _ = try store.claimed(.long("b"), Self.filter, limit: 100) }
            .filter { $0.contains("(lease_until, user_id) <=") }
        #expect(!bounded.isEmpty && bounded.allSatisfy { $0.contains("+lease_until <=") })
    }

    @Test(arguments: SQLBackend.available)
    func `the history is read in stretches if an index does not cover the filter`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let (store, statements) = try watched(fixture, leftOut: 0, selected: 1)
        let entries = (0..<100).map { number in
            VaultHistoryEntry(
                at: NumericDate(number / 3), event: number == 99 ? .dead : .stored,
                user: .sample(1), fingerprint: .sample(1),
                actor: VaultActor(command: "test", host: "here"))
        }
        try store.change(.users([]), releasing: nil) { _ in VaultChanges(history: entries) }
        for filter in [
            VaultHistoryFilter(events: [.dead]),
            VaultHistoryFilter(userID: VaultUser.sample(1).userID, events: [.dead]),
        ] {
            var page = VaultHistoryPage()
            let selects = try statements { page = try store.history(filter, after: nil, limit: 2) }
                .filter { $0.contains("event IN") }
            #expect(page.entries == [entries[99]])
            #expect(try store.history(filter, after: page.next, limit: 2).next == nil)
            // Stretches of 8, 16, 32 and 64 entries, the last of which has no end.
            #expect(selects.filter { $0.contains("(at, id) <=") }.count == 3, "\(selects)")
            #expect(selects.count == (filter.userID == nil ? 4 : 5))
        }
        // Of two bounds SQLite follows the first that it meets: here the wrong one, from page to page.
        let time = VaultHistoryFilter(
            since: NumericDate(1), until: NumericDate(30), events: [.stored])
        let middle = VaultHistoryPosition(at: 5, number: 16)
        let pages = try statements { _ = try store.history(time, after: middle, limit: 2) }
        #expect(pages.allSatisfy { $0.contains("+at >=") })
        let bounded = pages.filter { $0.contains("(at, id) <=") }
        #expect(!bounded.isEmpty && bounded.allSatisfy { $0.contains("+at <") })
    }
}

extension ClientID {
    fileprivate static let sample = VaultUser.sample(0).clientID
}
