import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// Transactions that are cut off in the middle, and rows that siwa-server cannot have written.
@Suite(.blocking) struct ServerFaultTests {
    /// Every call either happens as a whole or not at all, wherever the connection breaks.
    @Test(arguments: SQLBackend.available)
    func `a transaction that is cut off leaves no change`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let whole = try fixture.preparedServerStore()
        let record = VaultRecord(.sample(1))
        try fixture.store().put([record])
        try whole.receive([.sample(0, of: 2)])
        let before = try Snapshot(fixture)
        var cuts = 0
        while true {
            let connector = FailingConnector(
                base: try fixture.connector(timeout: .seconds(60)), after: cuts)
            do {
                _ = try ServerStore(connector).receive([.sample(1, revokesConsent: true)]) {
                    _, _ in
                    VaultChanges(
                        updates: [
                            VaultUpdate(record.becoming(.consentRevoked), replacing: record.id)
                        ])
                }
                break
            } catch is StoreError {
                #expect(try Snapshot(fixture) == before, "after \(cuts) statements")
            }
            cuts += 1
            try #require(cuts < 100)
        }
        #expect(cuts > 8)
        #expect(try whole.states() == ["event-0": .pending, "event-1": .pending])
        #expect(try fixture.store().record(of: .sample(1))?.state == .consentRevoked)
        #expect(try whole.counts().present == [.pending: 2])
    }

    /// What a transaction may have changed.
    private struct Snapshot: Equatable {
        let rows: [[[Value]]]

        init(_ fixture: any SQLStoreFixture) throws {
            rows = try [
                "SELECT jti, state FROM inbox_event ORDER BY jti",
                "SELECT name, value FROM server_count ORDER BY name",
                "SELECT state FROM vault_token",
                "SELECT count(*) FROM vault_history",
                "SELECT count(*), sum(value) FROM server_activity",
            ].map { try fixture.run($0) }
        }
    }

    /// What a restore in part, or a database's owner, can leave out.
    @Test(arguments: SQLBackend.available)
    func `missing tables and indexes are named, also for a vault without siwa-server`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let vault = SQLVaultStore(
            try fixture.connector(timeout: .seconds(60)), secrets: .server, others: [.server])
        _ = try fixture.vault()
        #expect(try vault.faults() == [])
        let store = try fixture.serverStore()
        try store.prepare(isAlone: true)
        #expect(try vault.faults() == [])
        try store.check()
        try fixture.run("DROP INDEX vault_token_turn")
        let remedy =
            "this makes it again: CREATE INDEX vault_token_turn ON vault_token (client_id, state, "
            + "lease_until, user_id)"
        #expect(
            try vault.faults().map(\.text) == ["the index vault_token_turn is missing; \(remedy)"])
        #expect(try vault.faults()[0].remedy?.hasPrefix("nothing is lost") == true)
        let first = #expect(throws: StoreError.self) { try store.check() }
        #expect(first?.kind == .damaged && first?.message.hasSuffix(remedy) == true)
        try fixture.run(String(remedy.dropFirst("this makes it again: ".count)))
        try store.check()
        for name in ["inbox_event", "revocation_job"] { try fixture.run("DROP TABLE \(name)") }
        let faults = try vault.faults().map(\.text)
        #expect(faults.first == "the table inbox_event is missing")
        #expect(faults.contains("the table revocation_job is missing"))
        let second = #expect(throws: StoreError.self) { try store.check() }
        #expect(second?.message.hasPrefix("the table inbox_event is missing; and ") == true)
        #expect(throws: StoreError.self) { try store.examine() }
    }

    static let damages = [
        "jti = 'a b'", "jti = ''", "client_id = 'a b'", "user_id = ''",
        "event_time = 9223372036854775807", "received_at = -9223372036854775808",
        "state = 'odd'", "attempts = -1", "attempts = 9223372036854775807",
        "due_at = 9223372036854775807", "position = 9223372036854775807",
    ]

    @Test(arguments: SQLBackend.available)
    func `damaged events are named, and stop no others`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        for (number, damage) in Self.damages.enumerated() {
            try fixture.run("DELETE FROM inbox_event")
            let events = try (0..<3).map { try IncomingEvent.sample(number * 3 + $0, of: $0) }
            try store.receive(events)
            try fixture.run(
                "UPDATE inbox_event SET \(damage) WHERE jti = $1", events[1].event.id.value)
            let page = try store.inbox(InboxFilter(), before: nil, limit: 10)
            #expect(
                page.entries.map(\.id) == [events[2].event.id, events[0].event.id], "\(damage)")
            #expect(page.damaged.count == 1, "\(damage)")
            #expect(
                page.damaged.first?.message.hasPrefix("event '") == true
                    && page.damaged.first?.kind == .recordDamaged)
            let read = try store.page()
            #expect(
                read.events.entries.map(\.id) == [events[0].event.id, events[2].event.id],
                "\(damage)")
            #expect(try store.page(after: read.cursor).events.entries.isEmpty, "\(damage)")
            _ = try store.unverified(after: 0, limit: 10)
            let due = try store.claimDeliveries(limit: 10, for: .long("a")).deliveries.map(\.id)
            #expect(Set(due).isSuperset(of: [events[0].event.id, events[2].event.id]), "\(damage)")
            _ = try store.claimDeliveries(limit: 10, for: .long("b"))
            try store.renewTokenCounts()
            _ = try store.counts()
            _ = try store.forget(VaultUser.sample(0).userID)
            _ = try store.purge(Retention(), limit: 10)
        }
    }

    /// A count is shown by adding and multiplying, and a damaged one must not stop what is counted.
    @Test(arguments: SQLBackend.available, [Int.max, .min])
    func `counts that are out of range are limited`(
        _ backend: SQLBackend, _ value: Int
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(0)])
        try fixture.run("UPDATE server_activity SET value = $1", .integer(value))
        try fixture.run(
            "UPDATE server_count SET value = $1 WHERE name = 'inbox.pending'", .integer(value))
        try store.renewTokenCounts()
        try fixture.run("UPDATE server_token_count SET value = $1", .integer(value))
        try store.receive([.sample(1)])
        let counts = try store.counts()
        let shown =
            try store.activity(hours: 24).flatMap(\.counts.values)
            + counts.inbox.values + counts.tokens.values.flatMap(\.values)
        #expect(shown.allSatisfy { (0...1_000_000_000_000).contains($0) }, "\(shown)")
        #expect(try store.states().count == 2)
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL\'s server"))
    func `texts that are not UTF-8 are named`() async throws {
        let fixture = try await PostgresStoreFixture.withoutEncoding()
        let store = try fixture.preparedServerStore()
        for column in ["jti", "type", "client_id", "user_id", "state", "last_error"] {
            try fixture.run("DELETE FROM inbox_event")
            try store.receive([.sample(1), .sample(2, of: 2)])
            try fixture.run(
                "UPDATE inbox_event SET \(column) = $1 WHERE jti = 'event-1'",
                .invalidText([0x75, 0xFF, 0x1B]))
            let page = try store.inbox(InboxFilter(), before: nil, limit: 10)
            #expect(page.entries.map(\.id) == [try .sample(2)], "\(column)")
            #expect(page.damaged.count == 1, "\(column)")
            let due = try store.claimDeliveries(limit: 10, for: .long("a")).deliveries.map(\.id)
            #expect(try due.contains(.sample(2)), "\(column)")
            try fixture.run("DELETE FROM inbox_event")
        }
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL\'s server"))
    func `a store leaves nothing behind in a database session`() async throws {
        let fixture = try await PostgresStoreFixture()
        let watched = WatchedConnector(
            base: try connector(
                of: fixture.url, timeout: .eachStatement(.seconds(60)), isPooled: true))
        _ = try fixture.preparedServerStore()
        let database = try watched.base.connect(creating: false)
        let settings = """
            SELECT name, setting FROM pg_settings
            WHERE name IN ('lock_timeout', 'statement_timeout', 'enable_seqscan', 'enable_sort',
                'idle_in_transaction_session_timeout', 'synchronous_commit')
            ORDER BY name
            """
        let before = try database.run(settings)
        let inside = try database.transaction(.writing) { database throws(DatabaseFailure) in
            try database.endDeliveryLeases()
            return try database.run(settings)
        }
        #expect(inside != before)
        #expect(try database.run(settings) == before)
        #expect(
            try database.run("SELECT name FROM pg_prepared_statements") == [[.text("")]]
                || database.run("SELECT name FROM pg_prepared_statements") == [])
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL\'s server"))
    func `a transaction whose beginning fails is rolled back`() async throws {
        let fixture = try await PostgresStoreFixture()
        let store = try fixture.preparedServerStore()
        #expect(try store.counts().inbox.isEmpty)
        let other = try fixture.connect()
        _ = try other.run(
            "ALTER FUNCTION pg_catalog.set_config(text, text, boolean) RENAME TO gone")
        for _ in 1...2 {
            let error = #expect(throws: StoreError.self) { try store.counts() }
            #expect(error?.message.contains("set_config") == true, "\(String(describing: error))")
        }
        _ = try other.run(
            "ALTER FUNCTION pg_catalog.gone(text, text, boolean) RENAME TO set_config")
        #expect(try store.counts().inbox.isEmpty)
    }
}

/// A connector whose connections break after some statements.
private struct FailingConnector: DatabaseConnector {
    let base: any DatabaseConnector
    let after: Int

    var name: String { base.name }

    func connect(creating: Bool) throws(DatabaseFailure) -> any Database {
        FailingDatabase(try base.connect(creating: creating), after: after)
    }
}

private final class FailingDatabase: Database {
    private let database: any Database
    private var left: Int

    init(_ database: any Database, after: Int) { (self.database, left) = (database, after) }

    var dialect: Dialect { database.dialect }
    var shell: String { database.shell }

    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]] {
        guard left > 0 else { throw DatabaseFailure(.unreachable, "cut off") }
        left -= 1
        return try database.run(sql, values)
    }

    func rollBack() { database.rollBack() }

    func faults(of tables: [String]) throws(DatabaseFailure) -> [String] {
        try database.faults(of: tables)
    }
}
