import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// siwa-server's queries read no more rows than they need, by the databases' own query plans.
@Suite(.blocking) struct ServerQueryPlanTests {
    @Test(arguments: SQLBackend.available)
    func `a claim reads only due events and its users' waiting events`(
        _ backend: SQLBackend
    ) async throws {
        let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
            _ = try store.claimDeliveries(
                DeliveryRoom(firstAttempts: 2, retries: 2, total: 5), for: .long("a"))
        }
        for index in ["inbox_event_first", "inbox_event_retry"] {
            #expect(plans.contains { $0.contains(index) }, "\(plans)")
        }
        for plan in plans {
            #expect(plan.isFrugal && plan.contains("inbox_event_user"), "\(plan)")
        }
    }

    @Test(arguments: SQLBackend.available)
    func `the next event of a user is found in an index`(_ backend: SQLBackend) async throws {
        let plans = try await plans(of: "UPDATE inbox_event SET due_at", on: backend.fixture()) {
            _ = try $0.discard([.sample(1)])
        }
        #expect(!plans.isEmpty)
        for plan in plans {
            #expect(plan.contains("inbox_event_user") && !plan.contains("Seq Scan"), "\(plan)")
        }
    }

    @Test(arguments: SQLBackend.available)
    func `pages are read from an index`(_ backend: SQLBackend) async throws {
        let plans = try await plans(of: "SELECT", on: backend.fixture()) { store in
            _ = try store.page(after: try store.page(limit: 3).cursor, limit: 5)
            _ = try store.newestEvent()
            _ = try store.inbox(InboxFilter(), before: 9, limit: 5)
            for state in InboxState.allCases {
                _ = try store.inbox(InboxFilter(states: [state]), before: nil, limit: 5)
            }
            _ = try store.inbox(InboxFilter(states: [.pending, .dead]), before: 9, limit: 5)
            _ = try store.inboxEvent(.sample(1))
            try store.renewTokenCounts()
            _ = try store.counts()
        }
        #expect(plans.count >= 4)
        for plan in plans { #expect(plan.isFrugal, "\(plan)") }
    }

    @Test(arguments: SQLBackend.available)
    func `a purge finds rows by their age`(_ backend: SQLBackend) async throws {
        let plans = try await plans(of: "DELETE FROM inbox", on: backend.fixture()) { store in
            _ = try store.purge(Retention(), limit: 5)
        }
        #expect(!plans.isEmpty)
        for plan in plans {
            #expect(plan.contains("inbox_event_state") && !plan.contains("Seq Scan"), "\(plan)")
        }
    }

    /// How the queries of `body` about the inbox would be run.
    private func plans(
        of verb: String, on fixture: any SQLStoreFixture, _ body: (ServerStore) throws -> Void
    ) throws -> [String] {
        try fixture.preparedServerStore().receive(
            (0..<30).map { try .sample($0, of: $0 % 7, at: $0) })
        let connector = WatchedConnector(base: try fixture.connector(timeout: .seconds(60)))
        let store = ServerStore(connector)
        try store.check()
        connector.seen.statements.withLock { $0 = [] }
        try body(store)
        let database = try connector.base.connect(creating: false)
        return try connector.seen.statements.withLock(\.self)
            .filter { $0.sql.hasPrefix(verb) && $0.sql.contains("inbox_event") }
            .map { statement in
                try database.run(fixture.explain + statement.sql, statement.values)
                    .flatMap { $0.compactMap(\.text) }.joined(separator: "\n")
            }
    }
}

extension String {
    /// Whether a plan neither reads everything nor sorts.
    fileprivate var isFrugal: Bool {
        !contains("TEMP B-TREE") && !contains("Sort") && !contains("Seq Scan")
            && !contains("SCAN inbox_event\n") && !hasSuffix("SCAN inbox_event")
    }
}
