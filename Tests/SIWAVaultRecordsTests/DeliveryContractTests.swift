import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// What deliveries promise on both databases.
@Suite(.blocking) struct DeliveryContractTests {
    @Test(arguments: SQLBackend.available)
    func `only the earliest waiting event of a user is sent`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        try store.receive([
            .sample(1, of: 1, at: 20), .sample(2, of: 1, at: 10), .sample(3, of: 2, at: 30),
            .sample(4, of: 1, at: 10),
        ])
        #expect(try Set(store.claimed()) == [2, 3])
        #expect(try store.claimed("b") == [])
        try store.note([.accepted(.sample(2)), .accepted(.sample(3))], by: "a")
        #expect(try store.claimed() == [4])
        try store.note([.accepted(.sample(4))], by: "a")
        #expect(try store.claimed() == [1])
        try store.note([.accepted(.sample(1))], by: "a")
        #expect(try store.claimed() == [])
        #expect(try store.counts().present == [.done: 4])
    }

    @Test(arguments: SQLBackend.available)
    func `an event that keeps failing delays its user's other events by an hour`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(1, of: 1, at: 1), .sample(2, of: 1, at: 2)])
        let first = try #require(
            try store.claimDeliveries(limit: 1, for: .long("a")).deliveries.first)
        try store.note([.failed(first, "HTTP 500", jitter: 0)], by: "a")
        let entry = try #require(try store.inboxEvent(first.id).entries.first)
        #expect(entry.state == .pending && entry.attempts == 1 && entry.lastError == "HTTP 500")
        #expect(entry.nextAttemptAt != nil)
        try fixture.makeDue()
        #expect(try store.claimed("b", limit: 1) == [1])
        try fixture.makeDue("jti = 'event-2'")
        #expect(try store.claimed("c") == [])
        let held = try fixture.run("SELECT holds_until FROM inbox_event WHERE jti = 'event-1'")
        let again = try DueDelivery(id: .sample(1), body: [], attempts: 1, age: .seconds(1))
        try store.note([.failed(again, "HTTP 500", jitter: 0)], by: "b")
        #expect(
            try fixture.run("SELECT holds_until FROM inbox_event WHERE jti = 'event-1'") == held)
        try fixture.run("UPDATE inbox_event SET holds_until = 1 WHERE jti = 'event-1'")
        try fixture.makeDue()
        #expect(try Set(store.claimed("d")) == [1, 2])
    }

    @Test(arguments: SQLBackend.available)
    func `a delayed event is due when no earlier event blocks it`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        // The second one failed before Apple sent the first one.
        try store.receive([.sample(1, of: 1, at: 1), .sample(2, of: 1, at: 2)])
        try fixture.run("UPDATE inbox_event SET attempts = 1 WHERE jti = 'event-2'")
        #expect(try store.claimed("a") == [1] && store.claimed("b") == [])
        try store.note([.accepted(.sample(1))], by: "a")
        #expect(try store.claimed("b") == [2])

        try store.receive([.sample(3, of: 2, at: 1), .sample(4, of: 2, at: 2)])
        #expect(try store.claimed("a") == [3] && store.claimed("b") == [])
        #expect(try store.discard([.sample(3)]) == [.sample(3)])
        #expect(try store.claimed("b") == [4])

        try store.receive([.sample(5, of: 3, at: 1), .sample(6, of: 3, at: 2)])
        try fixture.run("UPDATE inbox_event SET attempts = -1 WHERE jti = 'event-5'")
        #expect(try store.claimed("b") == [6])
    }

    @Test(arguments: SQLBackend.available)
    func `an event that no longer blocks others is not confused with the blocking one`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((1...3).map { try .sample($0, of: 1, at: $0) })
        let first = try #require(
            try store.claimDeliveries(limit: 1, for: .long("a")).deliveries.first)
        try store.note(
            [.failed(first, "HTTP 503", retryAfter: .seconds(1800), jitter: 0)], by: "a")
        try fixture.run("UPDATE inbox_event SET holds_until = 1 WHERE jti = 'event-1'")
        try fixture.makeDue("jti = 'event-2'")
        #expect(try store.claimed("a") == [2] && store.claimed("b") == [])
        try store.note([.accepted(.sample(2))], by: "a")
        #expect(try store.claimed("b") == [3])

        // One that failed by itself keeps its own wait, which the application may have asked for.
        let third = try DueDelivery(id: .sample(3), body: [], attempts: 0, age: .seconds(1))
        try store.note(
            [.failed(third, "HTTP 503", retryAfter: .seconds(1800), jitter: 0)], by: "b")
        try store.note([.accepted(.sample(1))], by: "a")
        #expect(try store.claimed("c") == [])
    }

    @Test(arguments: SQLBackend.available)
    func `an undeliverable event does not delay other users' events`(_ backend: SQLBackend)
        async throws
    {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((1...60).map { try .sample($0, of: 1, at: $0) })
        try store.receive((61...65).map { try .sample($0, of: $0) })
        #expect(try store.claimed(limit: 4) == [1, 61, 62, 63])
        #expect(try store.claimed(limit: 4) == [64, 65])
        #expect(try store.claimed(limit: 4) == [])
    }

    @Test(arguments: SQLBackend.available)
    func `a lease expires, is renewed, and only its holder can report a failure`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(1, of: 1), .sample(2, of: 2)])
        #expect(try Set(store.claimed("a")) == [1, 2])
        #expect(try store.renewDeliveries([.sample(1)], for: .long("a")) == [.sample(1)])
        #expect(try store.renewDeliveries([.sample(1)], for: .long("b")) == [])
        try fixture.makeDue()
        #expect(try Set(store.claimed("b")) == [1, 2])
        #expect(try store.renewDeliveries([.sample(1)], for: .long("a")) == [])
        let old = try DueDelivery(id: .sample(1), body: [], attempts: 0, age: .seconds(1))
        try store.note([.failed(old, "late", jitter: 0)], by: "a")
        #expect(try store.inboxEvent(.sample(1)).entries.first?.attempts == 0)
        try store.note([.accepted(.sample(2))], by: "a")
        #expect(try store.inboxEvent(.sample(2)).entries.first?.state == .done)
        try fixture.serverStore().prepare(isAlone: true)
        #expect(try store.claimed("c") == [1])
    }

    @Test(arguments: SQLBackend.available)
    func `a dead event is replayed with zero attempts`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(1, of: 1, at: 1), .sample(2, of: 1, at: 2)])
        #expect(try store.claimed() == [1])
        let late = try DueDelivery(id: .sample(1), body: [], attempts: 99, age: .seconds(604_800))
        try store.note([.failed(late, "HTTP 404", jitter: 0)], by: "a")
        #expect(try store.states() == ["event-1": .dead, "event-2": .pending])
        #expect(try store.claimed() == [2])
        try store.note([.accepted(.sample(2))], by: "a")
        #expect(try store.replay(.state(.dead)) == [.sample(1)])
        let entry = try #require(try store.inboxEvent(.sample(1)).entries.first)
        #expect(entry.attempts == 0 && entry.lastError == nil)
        #expect(try store.replay(.events([.sample(2), .sample(9)])) == [.sample(2)])
        #expect(try store.claimed() == [1])
        #expect(try store.replay(.events([.sample(1)])) == [])
        #expect(try store.discard([.sample(1), .sample(2), .sample(9)]).count == 2)
        #expect(try store.discard([.sample(1)]) == [])
        #expect(try store.counts().present == [.discarded: 2])
        let activity = try store.activity(hours: 2)
        #expect(activity.reduce(0) { $0 + ($1.counts[.undelivered] ?? 0) } == 1)
        #expect(activity.reduce(0) { $0 + ($1.counts[.received] ?? 0) } == 2)
    }

    @Test(arguments: SQLBackend.available)
    func `workers that claim at once share all events`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((0..<200).map { try .sample($0, of: $0 % 5, at: $0) })
        let workers = try (0..<4).map { _ in try fixture.serverStore() }
        let sent = Mutex<[Int]>([])
        while try store.counts().present[.pending] != nil {
            try atOnce(workers.count) { number in
                let (worker, owner) = (workers[number], "\(number)")
                for _ in 0..<3 {
                    let mine = try worker.claimDeliveries(limit: 3, for: .long(owner)).deliveries
                    sent.withLock { $0 += mine.map(\.number) }
                    try worker.note(mine.map { .accepted($0.id) }, by: owner)
                }
            }
            try #require(try fixture.waitingWithoutReason() == [])
        }
        let all = sent.withLock(\.self)
        #expect(all.sorted() == Array(0..<200))
        for user in 0..<5 {
            #expect(all.filter { $0 % 5 == user } == Array(stride(from: user, to: 200, by: 5)))
        }
    }

    @Test(arguments: SQLBackend.available)
    func `the counts equal the stored events`(_ backend: SQLBackend) async throws {
        var random = SeededRandom.announced(for: "counts of the inbox")
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        for round in 0..<120 {
            let number = Int.random(in: 0..<30, using: &random)
            let id = try EventID.sample(number)
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                try store.receive([.sample(number, of: number % 5, isDelivered: round % 4 != 0)])
            case 3: _ = try store.keep(.sample(number, of: number % 5), limit: 5)
            case 4: _ = try store.discard([id])
            case 5: _ = try store.replay(.events([id]))
            case 6: try store.settle([UnverifiedNotification.sample(number).id], as: .rejected)
            case 7: if round % 3 == 0 { _ = try store.forget(VaultUser.sample(number % 5).userID) }
            default:
                let due = try store.claimDeliveries(limit: 2, for: .long("a")).deliveries
                try store.note(
                    due.map {
                        $0.number % 2 == 0 ? .accepted($0.id) : .failed($0, "no", jitter: 0)
                    },
                    by: "a")
            }
        }
        let rows = try fixture.run("SELECT state, count(*) FROM inbox_event GROUP BY state")
        let counted = Dictionary(
            uniqueKeysWithValues: rows.map { ($0[0].text.flatMap(InboxState.init), $0[1].integer) })
        let kept = try store.counts().present
        #expect(counted == Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) }))
    }
}

extension SQLStoreFixture {
    /// Lets leases and waits of pending events end.
    func makeDue(_ condition: String = "state = 'pending'") throws {
        try run("UPDATE inbox_event SET due_at = 1 WHERE \(condition)")
    }

    /// The first events of their users that are not due, although no worker sends them.
    fileprivate func waitingWithoutReason() throws -> [String?] {
        let database = try connect()
        let sql = """
            SELECT jti FROM inbox_event
            WHERE state = 'pending' AND lease_owner IS NULL AND due_at > \(database.dialect.moment)
                AND NOT EXISTS (
                    SELECT 1 FROM inbox_event AS earlier
                    WHERE earlier.user_id = inbox_event.user_id AND earlier.state = 'pending'
                        AND (earlier.event_time, earlier.position)
                            < (inbox_event.event_time, inbox_event.position))
            """
        return try database.run(sql, []).map(\.[0].text)
    }
}
