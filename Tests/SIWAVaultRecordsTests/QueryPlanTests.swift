import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// No query reads more rows than its result, by the databases' own query plans.
@Suite(.blocking) struct QueryPlanTests {
    static let filters = [
        VaultFilter(), VaultFilter(states: [.dead]), VaultFilter(states: [.dead, .active]),
        VaultFilter(clientID: ClientID(unchecked: "one")),
        VaultFilter(clientID: ClientID(unchecked: "one"), states: [.active]),
        VaultFilter(
            states: [.active], notCheckedSince: NumericDate(5), notSealedWith: 4),
        VaultFilter(states: [.active], notCheckedSince: NumericDate(5), isNewestOnly: true),
    ]

    private static let place = VaultRowKey(VaultRecordID(.sample(1, of: "one"), .sample()))

    @Test(arguments: SQLBackend.available)
    func `a page is read from an index`(_ backend: SQLBackend) async throws {
        for filter in Self.filters {
            let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
                _ = try store.records(filter, after: Self.place, limit: 5)
            }
            #expect(plans.count >= max(1, filter.states.count))
            for plan in plans {
                #expect(plan.reads(from: ["vault_token_state", "PRIMARY KEY", "_pkey"]), "\(plan)")
                #expect(
                    plan.contains("token_fingerprint)>") || backend != .sqlite,
                    "\(plan)")
            }
        }
    }

    @Test(arguments: SQLBackend.available)
    func `a claim takes the first rows of an index`(_ backend: SQLBackend) async throws {
        for filter in Self.filters {
            let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
                _ = try store.claim(.long("a"), filter)
            }
            let claims = plans.filter { $0.contains("lease_until") || $0.contains("turn") }
            #expect(!claims.isEmpty)
            for plan in claims { #expect(plan.reads(from: ["vault_token_turn"]), "\(plan)") }
        }
    }

    @Test(arguments: SQLBackend.available)
    func `leased records are found at the end of an index`(_ backend: SQLBackend) async throws {
        let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
            _ = try store.leasedByOthers(
                than: "a", VaultFilter(clientID: ClientID(unchecked: "one"), states: [.active]))
        }
        #expect(plans.count == 1 && plans[0].reads(from: ["vault_token_turn"]), "\(plans)")
        #expect(plans[0].contains("lease_until"), "\(plans)")
    }

    static let histories = [
        (VaultHistoryFilter(), ["vault_history_time"]),
        (VaultHistoryFilter(since: NumericDate(5), until: NumericDate(9)), ["vault_history_time"]),
        (VaultHistoryFilter(events: [.dead]), ["vault_history_time"]),
        (
            VaultHistoryFilter(userID: UserID(unchecked: "u")),
            ["vault_history_user", "vault_history_new_user"]
        ),
        (
            VaultHistoryFilter(
                userID: UserID(unchecked: "u"), clientID: ClientID(unchecked: "one"),
                since: NumericDate(5), events: [.dead]),
            ["vault_history_user", "vault_history_new_user"]
        ),
    ]

    @Test(arguments: SQLBackend.available)
    func `the history is read from an index`(_ backend: SQLBackend) async throws {
        for (filter, indexes) in Self.histories {
            let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
                _ = try store.history(
                    filter, after: VaultHistoryPosition(at: 5, number: 1), limit: 5)
            }
            // If an index does not cover the filter, the end of a stretch is searched first.
            let stretches = filter.events.isEmpty ? 1 : 2
            #expect(plans.count == (filter.userID == nil ? stretches : 2 + 2 * stretches))
            for plan in plans { #expect(plan.reads(from: indexes), "\(plan)") }
        }
    }

    @Test(arguments: SQLBackend.available)
    func `every record is changed with the fewest statements`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        _ = try fixture.vault()
        let connector = WatchedConnector(base: try fixture.connector(timeout: .seconds(60)))
        let store = SQLVaultStore(connector)
        _ = try store.keyChecks()
        func statements(_ body: () throws -> Void) rethrows -> Int {
            connector.seen.statements.withLock { $0 = [] }
            try body()
            return connector.seen.statements.withLock { $0.count }
        }
        func cost(_ body: (Int) throws -> Void) rethrows -> Int {
            let few = try statements { try body(10) }
            // The states that a claim reads first differ from run to run.
            return try (statements { try body(110) } - few + 50) / 100
        }
        // On SQLite a look for the records of the user, and the new one. On a server all records of a
        // group go together.
        let each = backend == .sqlite ? 1 : 0
        var next = 0
        func put(_ count: Int) throws {
            try store.put((next..<(next + count)).map { VaultRecord(.sample($0)) })
            next += count
        }
        #expect(try cost { try put($0) } == 2 * each)
        // Many at once are looked for together, where few are known.
        let known = [0, 5, 9].map { VaultRecord(.sample(next + $0)) }
        try store.put(known)
        let many = try statements { try put(1000) }
        #expect(many < (1000 - known.count) * each + 3 * known.count + 10)
        #expect(try store.all().count == next)
        #expect(try cost { _ = try store.claim(.long("\($0)"), limit: $0) } == each)
        let noted = try cost { count in
            _ = try store.claim(.long("x\(count)"), limit: 0)
            try store.change(VaultUser.samples(count), releasedBy: "\(count)") { user, record in
                record.map { .put($0.becoming($0.state == .dead ? .active : .dead)) } ?? .keep
            }
        }
        #expect(noted == 2 * each)
    }

    @Test(arguments: SQLBackend.available)
    func `the users and tokens of an import are found in an index`(_ backend: SQLBackend)
        async throws
    {
        let records = (1000..<2000).map { VaultRecord(.sample($0), key: 2) }
        let scopes: [(VaultScope, range: String)] = [
            (.users(records.map(\.user)), "user_id>? AND user_id<?"),
            (
                .tokens(records.map(\.id)),
                "(user_id,token_fingerprint)>(?,?) AND (user_id,token_fingerprint)<(?,?)"
            ),
        ]
        for (scope, range) in scopes {
            let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
                try store.change(scope, releasing: nil) { _ in VaultChanges() }
            }
            #expect(plans.count == 1, "\(plans)")
            for plan in plans {
                #expect(plan.reads(from: ["PRIMARY KEY", "_pkey"]), "\(plan)")
                #expect(plan.contains(range) || backend != .sqlite, "\(plan)")
            }
        }
    }

    @Test(arguments: SQLBackend.available)
    func `a count sorts nothing`(_ backend: SQLBackend) async throws {
        let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
            _ = try store.counts(of: nil)
        }
        #expect(plans.count == 1 && plans[0].reads(from: ["vault_token_state"]), "\(plans)")
    }

    /// For a page of ten million records the server would compile the query and start more processes,
    /// a thousand times the work of reading the page.
    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL\'s server"))
    func `no query is compiled just in time or run in parallel`() async throws {
        let fixture = try await PostgresStoreFixture()
        for setting in [
            "jit = on", "jit_above_cost = 0", "parallel_setup_cost = 0", "parallel_tuple_cost = 0",
            "min_parallel_table_scan_size = 0", "min_parallel_index_scan_size = 0",
        ] {
            _ = try await fixture.server.run(
                "ALTER DATABASE \(fixture.name) SET \(setting)", on: fixture.url)
        }
        let plans = try plans(of: "SELECT", on: fixture) { store in
            _ = try store.records(VaultFilter(), after: Self.place, limit: 5)
            _ = try store.counts(of: nil)
        }
        #expect(plans.count == 2)
        for plan in plans { #expect(!plan.contains("JIT") && !plan.contains("Gather"), "\(plan)") }
        let usual = try await fixture.server.run(
            "EXPLAIN SELECT state, count(*) FROM vault_token GROUP BY state", on: fixture.url)
        #expect(usual.contains("JIT") && usual.contains("Gather"), "\(usual)")
    }

    /// The server reads on to the end of an index where the end of a stretch does not stop it: each
    /// of a thousand stretches would cost as much as all that follow it.
    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL\'s server"))
    func `a stretch is read to its end, and no further`() async throws {
        let fixture = try await PostgresStoreFixture()
        try fixture.vault().put((0..<5000).map { VaultRecord(.sample($0)) })
        let none = VaultFilter(
            clientID: VaultUser.sample(0).clientID, states: [.active], changedBefore: NumericDate(0)
        )
        let start = VaultRowKey(VaultRecordID(.sample(9), .sample()))
        for read in [
            { _ = try $0.records(none, after: start, limit: 5) },
            { _ = try $0.claim(.long("a"), none, limit: 5) },
        ] as [(any VaultStore) throws -> Void] {
            let plans = try plans(
                of: "SELECT", on: fixture, by: "EXPLAIN (ANALYZE, BUFFERS) ", read)
            #expect(plans.count > 10, "stretch after stretch: \(plans)")
            // The first two stretches have at most 40 records.
            for plan in plans.prefix(4) {
                let pages = try #require(plan.pagesRead, "\(plan)")
                #expect((1..<25).contains(pages), "\(plan)")
            }
        }
    }

    /// How the queries of `body` about records would be run in a vault with some.
    private func plans(
        of verb: String, on fixture: any SQLStoreFixture, _ body: (any VaultStore) throws -> Void
    ) throws -> [String] {
        try fixture.vault().putOfTwoKeys(Samples.population)
        return try plans(of: verb, on: fixture, by: fixture.explain, body)
    }

    /// How the queries of `body` about records are run, in the words of `explain`.
    private func plans(
        of verb: String, on fixture: any SQLStoreFixture, by explain: String,
        _ body: (any VaultStore) throws -> Void
    ) throws -> [String] {
        let connector = WatchedConnector(base: try fixture.connector(timeout: .seconds(60)))
        let store = SQLVaultStore(connector)
        _ = try store.keyChecks()
        connector.seen.statements.withLock { $0 = [] }
        try body(store)
        let database = try connector.base.connect(creating: false)
        return try connector.seen.statements.withLock(\.self)
            .filter {
                $0.sql.hasPrefix(verb)
                    && ($0.sql.contains("vault_token") || $0.sql.contains("vault_history"))
            }
            .map { statement in
                try database.run(explain + statement.sql, statement.values)
                    .flatMap { $0.compactMap(\.text) }.joined(separator: "\n")
            }
    }
}

extension String {
    /// Whether a plan uses one of these indexes, and neither reads everything nor sorts.
    fileprivate func reads(from indexes: [String]) -> Bool {
        indexes.contains(where: contains) && !contains("TEMP B-TREE") && !contains("Sort")
            && !contains("Seq Scan")
    }

    /// The pages that a query of PostgreSQL read, by a plan with `BUFFERS`.
    fileprivate var pagesRead: Int? {
        guard let found = firstRange(of: "Buffers: shared hit=") else { return nil }
        let line = self[found.upperBound...].prefix { $0 != "\n" }
        let numbers = line.split { !$0.isNumber }.prefix(line.contains(" read=") ? 2 : 1)
        return numbers.compactMap { Int($0) }.reduce(0, +)
    }
}
