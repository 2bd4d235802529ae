import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// Work whose times were written while a clock was wrong.
@Suite(.blocking) struct ParkedWorkTests {
    private static let days = 40 * 86_400

    /// Forty days ahead, an event failed, and another was received.
    private func parked(_ backend: SQLBackend) async throws -> any SQLStoreFixture {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(1, of: 1, at: 1), .sample(2, of: 1, at: 2), .sample(3, of: 3)])
        let due = try store.claimDeliveries(limit: 10, for: .long("a")).deliveries
        try store.note(due.map { .failed($0, "HTTP 500", jitter: 0) }, by: "a")
        try fixture.run(
            """
            UPDATE inbox_event SET due_at = due_at + \(Self.days)000,
                holds_until = holds_until + \(Self.days)000, changed_at = changed_at + \(Self.days),
                received_at = 2000000000 + \(Self.days) * 30
            """)
        return fixture
    }

    @Test(arguments: SQLBackend.available)
    func `parked work is resumed at the start`(_ backend: SQLBackend) async throws {
        let fixture = try await parked(backend)
        let store = try fixture.serverStore()
        #expect(try store.claimed() == [])
        #expect(try store.counts().oldestPendingEvent == .zero)
        let attempts = try #require(try store.counts().eventAttempts)
        // The second event is held back for a minute.
        #expect(attempts.last - attempts.next <= .seconds(61))
        try store.prepare(isAlone: true)
        #expect(try Set(store.claimed()) == [1, 3])
        try fixture.run("UPDATE inbox_event SET changed_at = changed_at - 100")
        #expect(try store.counts().oldestPendingEvent ?? .zero >= .seconds(100))
    }

    @Test(arguments: SQLBackend.available)
    func `parked work is resumed every hour, and other waits are unchanged`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await parked(backend)
        let store = try fixture.serverStore()
        try store.receive([.sample(4, of: 4)])
        let fourth = try #require(
            try store.claimDeliveries(limit: 9, for: .long("a")).deliveries.first)
        try store.note(
            [.failed(fourth, "HTTP 503", retryAfter: .seconds(3600), jitter: 0)], by: "a")
        try store.bringBackParked()
        #expect(try Set(store.claimed()) == [1, 3])
        #expect(try store.inboxEvent(.sample(4)).entries.first?.nextAttemptAt != nil)
        // The first one holds the second one back, for an hour at most.
        let longest = try fixture.run(
            """
            SELECT max(holds_until) - (SELECT due_at FROM inbox_event WHERE jti = 'event-4')
            FROM inbox_event WHERE jti <> 'event-4'
            """
        ).first?.first?.integer
        #expect(try #require(longest) <= 60_000)
    }

    @Test(arguments: SQLBackend.available)
    func `a parked revocation is resumed as well`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let request = RevocationRequest(
            id: "one", clientID: nil, userID: nil, requestedAt: NumericDate(1_790_000_000))
        let user = VaultUser.sample(1)
        let job = RevocationJob(
            number: 0, clientID: user.clientID, userID: user.userID, fingerprint: .sample(1),
            kind: .refreshToken, proof: .none, createdAt: NumericDate(1_790_000_000),
            secret: SealedSecret(keyNumber: 1, bytes: [1]))
        _ = try store.add(request, [job])
        try fixture.run(
            """
            UPDATE revocation_job SET due_at = due_at + \(Self.days)000,
                created_at = 3000000000
            """)
        try fixture.run("UPDATE revocation SET requested_at = 3000000000")
        #expect(try store.claimRevocations(of: nil, limit: 9, for: .long("a")).jobs.isEmpty)
        try store.bringBackParked()
        #expect(try store.claimRevocations(of: nil, limit: 9, for: .long("a")).jobs.count == 1)
        try fixture.run("UPDATE revocation SET requested_at = requested_at - 100")
        #expect(try store.counts().oldestPendingRevocation ?? .zero >= .seconds(100))
    }

    @Test(arguments: SQLBackend.available)
    func `the age of the oldest event counts from its receipt, also after a replay`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(1)])
        try store.accept(1)
        try fixture.run("UPDATE inbox_event SET received_at = changed_at - 1000")
        _ = try store.replay(.events([.sample(1)]))
        #expect(try store.counts().oldestPendingEvent ?? .zero >= .seconds(1000))
    }

    @Test(arguments: SQLBackend.available)
    func `tokens are counted again if the last count is in the future`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try fixture.store().put([VaultRecord(.sample(1))])
        try fixture.run(
            "UPDATE server_count SET value = 4000000000 WHERE name = 'tokens_counted_at'")
        try store.renewTokenCounts()
        #expect(try store.counts().tokens.count == 1)
    }
}
