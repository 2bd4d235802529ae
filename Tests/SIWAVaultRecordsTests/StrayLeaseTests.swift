import Foundation
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Leases that a wrong clock, or a user with access to the database, has set to the future.
@Suite(.blocking) struct StrayLeaseTests {
    /// A monotonic clock that the test moves.
    private final class Clock: Sendable {
        private let now = Mutex(Duration.zero)
        var elapsed: Duration { now.withLock { $0 } }
        func pass(_ seconds: Int) { now.withLock { $0 += .seconds(seconds) } }
    }

    private let clock = Clock()
    private let users = [0, 2].map { VaultUser.sample($0) }
    private static let name = "token '000000000000' of 'u000000' of 'com.example.app'"

    /// A vault with two records, of which the first is changed.
    private func store(
        _ fixture: any SQLStoreFixture, _ change: String
    ) throws -> any VaultStore {
        _ = try fixture.vault()
        let store = SQLVaultStore(
            try fixture.connector(timeout: .seconds(60)), elapsed: { [clock] in clock.elapsed })
        try store.put(users.map { VaultRecord($0) })
        try fixture.run("UPDATE vault_token SET \(change) WHERE user_id = 'u000000'")
        return store
    }

    private static func seconds(_ ahead: Int) -> Int { Int(Date().timeIntervalSince1970) + ahead }

    private static var ends: [Int] { [seconds(2 * 86_400), seconds(3_800), 253_402_300_800, .max] }

    @Test(arguments: SQLBackend.available, 0..<4)
    func `a stray lease is void after three minutes without a change`(
        _ backend: SQLBackend, _ end: Int
    ) async throws {
        let end = Self.ends[end]
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try store(fixture, "lease_owner = 'x', lease_until = \(end)")
        #expect(try store.claimed(.long("a")).records.map(\.user) == [users[1]])
        let first = try store.claimed(.long("a"))
        #expect(first.records.isEmpty && !first.isComplete && first.wait == .seconds(180))
        #expect(try store.leasedByOthers(than: "a", VaultFilter()).count == 1)
        #expect(try store.faults().count == 1)
        #expect(try store.faults().allSatisfy { $0.text.hasPrefix(Self.name) })
        clock.pass(179)
        #expect(try store.claimed(.long("a")).wait == .seconds(1))
        clock.pass(1)
        let last = try store.claimed(.long("a"))
        #expect(last.voided.map(\.row.description) == [Self.name] && !last.isComplete)
        #expect(last.voided.map(\.end) == [end])
        let taken = try store.claimed(.long("a"))
        #expect(taken.records.map(\.user) == [users[0]], "it is processed like others")
        #expect(try store.claimed(.long("a")).isComplete)
        #expect(try store.faults() == [])
    }

    @Test(arguments: SQLBackend.available)
    func `a lease is left to a run that renews it`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try store(
            fixture, "lease_owner = 'x', lease_until = \(Self.seconds(90_000))")
        _ = try store.claimed(.long("a"))
        #expect(try store.claimed(.long("a")).wait != nil)
        clock.pass(100)
        try fixture.run(
            "UPDATE vault_token SET lease_until = lease_until + 1 WHERE lease_owner = 'x'")
        let claim = try store.claimed(.long("a"))
        #expect(claim.isComplete && claim.wait == nil, "its run is alive")
        clock.pass(100)
        #expect(try store.claimed(.long("a")).voided.isEmpty)
        #expect(try store.leasedByOthers(than: "a", VaultFilter()).count == 1)
    }

    @Test(arguments: SQLBackend.available)
    func `a lease of an hour is treated like others`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try store(fixture, "lease_owner = NULL")
        #expect(try store.claimed(.long("x"), limit: 1).records.count == 1)
        _ = try store.claimed(.long("a"))
        clock.pass(500)
        #expect(try store.claimed(.long("a")).isComplete)
        #expect(try store.faults() == [])
        let endless = Lease(owner: "b", duration: .seconds(Int64.max))
        try store.release([users[1]], by: "a")
        #expect(try store.claimed(endless).remaining == Lease.longest)
        #expect(try store.faults() == [], "no lease of siwa's is longer")
    }

    @Test(
        arguments: SQLBackend.available,
        [
            "lease_owner = NULL",
            "lease_owner = 'x', given_back_at = 1",
            "lease_owner = 'x', given_back_at = END000",
        ])
    func `a row that no run holds is not waited for, even if a wrong clock wrote it`(
        _ backend: SQLBackend, _ change: String
    ) async throws {
        for ahead in [600, 80_000, 172_800] {
            let end = Self.seconds(ahead)
            let change = change.replacing("END", with: "\(end)")
            let fixture = try await backend.fixture()
            defer { extendLifetime(fixture) }
            let store = try store(fixture, "\(change), lease_until = \(end)")
            var found: [VaultUser] = []
            for _ in 0..<4 { found += try store.claimed(.long("a")).records.map(\.user) }
            #expect(found.sorted() == users, "\(ahead)")
            #expect(try store.leasedByOthers(than: "b", VaultFilter()).count == 2)
        }
    }
}
