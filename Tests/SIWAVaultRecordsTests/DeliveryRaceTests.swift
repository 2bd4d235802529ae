import Dispatch
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// On PostgreSQL, an event is released while another process is about to hold it back.
@Suite(.blocking, .enabled(if: PostgresServer.isAvailable)) struct DeliveryRaceTests {
    @Test func `an event that is unblocked before it is delayed is claimed`() async throws {
        let fixture = try await PostgresStoreFixture()
        try fixture.beginDelivery()
        let claimed = try fixture.claim {
            // The rows that the claim has read have changed.
            _ = try fixture.run(
                """
                UPDATE inbox_event SET state = 'done', due_at = NULL, lease_owner = NULL
                WHERE jti = 'event-1'
                """)
        }
        #expect(claimed == [2])
    }

    @Test func `an event that is unblocked while it is delayed is due`() async throws {
        let fixture = try await PostgresStoreFixture()
        try fixture.beginDelivery()
        let failure = Mutex<(any Error)?>(nil)
        let released = DispatchSemaphore(value: 0)
        let claimed = try fixture.claim {
            try startThread {
                do {
                    try fixture.serverStore().note([.accepted(.sample(1))], by: "a")
                } catch { failure.withLock { $0 = error } }
                released.signal()
            }
            while try fixture.waitingSessions() == 0 {}
        }
        #expect(claimed == [])
        released.wait()
        if let error = failure.withLock(\.self) { throw error }
        let due = try fixture.serverStore().claimDeliveries(limit: 9, for: .long("c")).deliveries
        #expect(due.map(\.number) == [2])
    }
}

extension SQLStoreFixture {
    /// Two events of one user, of which the first is claimed.
    fileprivate func beginDelivery() throws {
        let store = try preparedServerStore()
        try store.receive([.sample(1, of: 1, at: 1), .sample(2, of: 1, at: 2)])
        let first = try store.claimDeliveries(limit: 1, for: .long("a")).deliveries
        try #require(first.map(\.number) == [1])
    }

    /// Claims what is due, and calls `body` between looking at the due events and holding some back.
    fileprivate func claim(_ body: @escaping @Sendable () throws -> Void) throws -> [Int] {
        let failure = Mutex<(any Error)?>(nil)
        let isFirst = Mutex(true)
        var watched = WatchedConnector(base: try connector(timeout: .seconds(60)))
        watched.after = { sql in
            guard sql.contains("SKIP LOCKED"), isFirst.withLock({ exchange(&$0, with: false) })
            else { return }
            do { try body() } catch { failure.withLock { $0 = error } }
        }
        let due = try ServerStore(watched).claimDeliveries(limit: 9, for: .long("b")).deliveries
        if let error = failure.withLock(\.self) { throw error }
        return due.map(\.number)
    }

    /// The number of sessions of this database that wait for a lock.
    func waitingSessions() throws -> Int? {
        try run(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        ).first?[0].integer
    }
}

private func exchange<T>(_ value: inout T, with next: T) -> T {
    defer { value = next }
    return value
}
