import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// What the inbox promises on both databases.
@Suite(.blocking) struct InboxContractTests {
    @Test(arguments: SQLBackend.available)
    func `the tables are created once, and a newer version is refused`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        #expect(try kind { try fixture.serverStore().check() } == .notInitialized)
        _ = try fixture.vault()
        let store = try fixture.serverStore()
        #expect(try kind { _ = try store.check() } == .serverNotInitialized)
        #expect(
            try kind { _ = try store.inbox(InboxFilter(), before: nil, limit: 1) }
                == .serverNotInitialized)
        try store.prepare(isAlone: true)
        try store.receive([.sample(1)])
        try fixture.serverStore().prepare(isAlone: false)
        try store.check()
        #expect(try store.states() == ["event-1": .pending])
        #expect(try fixture.run("SELECT version FROM vault_schema") == [[.integer(5)]])
        try fixture.run("UPDATE server_schema SET version = 99")
        #expect(try kind { _ = try store.check() } == .tooNew)
        #expect(try kind { try store.prepare(isAlone: true) } == .tooNew)
        try fixture.run("UPDATE server_schema SET version = 2")
        #expect(try kind { _ = try store.check() } == .tooOld)
        #expect(try kind { try store.prepare(isAlone: true) } == .tooOld)
        #expect(try kind { _ = try store.examine() } == .tooOld)
    }

    /// A newer version may be migrating the vault while this one runs.
    @Test(arguments: SQLBackend.available)
    func `a running server does not change a newer vault`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.check()
        try fixture.run("UPDATE vault_schema SET version = 99")
        let code = try CodeDigest(of: AuthorizationCode(SecretText("c")))
        for call: (ServerStore) throws -> Void in [
            { _ = try $0.check() }, { try $0.receive([.sample(1)]) },
            { _ = try $0.vault.records(of: [.sample(1)]) }, { try $0.vault.put([]) },
            { try $0.vault(finishing: code, .unanswered, by: "a", heeding: []).put([]) },
        ] {
            #expect(try kind { try call(store) } == .tooNew)
        }
        try fixture.run("UPDATE vault_schema SET version = 5")
        try store.check()
    }

    @Test(arguments: SQLBackend.available)
    func `an event is stored once, with its effect on the vault`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let record = VaultRecord(.sample(1))
        try fixture.store().put([record, VaultRecord(.sample(2))])
        let event = try IncomingEvent.sample(1, revokesConsent: true)
        var asked = 0
        for _ in 1...2 {
            let receipt = try store.receive([event, event]) { new, page in
                asked += new.count
                #expect(new.isEmpty || page.records == [record])
                return VaultChanges(
                    updates: new.map { _ in
                        VaultUpdate(record.becoming(.consentRevoked), replacing: record.id)
                    })
            }
            #expect(receipt.stored == (asked == 1 ? [event.event.id] : []) || asked == 1)
        }
        #expect(asked == 1)
        #expect(try fixture.store().record(of: .sample(1))?.state == .consentRevoked)
        #expect(try fixture.store().record(of: .sample(2))?.state == .active)
        let entries = try store.inbox(InboxFilter(), before: nil, limit: 10).entries
        #expect(entries.map(\.id) == [event.event.id])
        #expect(entries.first?.body == event.event.body)
        #expect(entries.first?.user == .sample(1))
        #expect(try store.counts().present == [.pending: 1])
    }

    @Test(arguments: SQLBackend.available)
    func `nothing is stored if the vault cannot be changed`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        #expect(throws: StoreError.self) {
            try store.receive([.sample(1)]) { _, _ throws(StoreError) in
                throw StoreError(.sealBroken, "no")
            }
        }
        #expect(throws: StoreError.self) {
            // A record that was removed.
            try store.receive([.sample(1)]) { _, _ in
                let new = VaultUpdate(VaultRecord(.sample(1)), replacing: nil)
                return VaultChanges(updates: [new, new])
            }
        }
        #expect(try store.states() == [:])
        #expect(try store.counts().present == [:])
        #expect(try store.receive([.sample(1)]).stored.count == 1)
    }

    @Test(arguments: SQLBackend.available)
    func `unverified payloads are stored separately`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        let samples = try (1...4).map { try UnverifiedNotification.sample($0) }
        #expect(try store.keep(samples[0], limit: 3) == .kept)
        #expect(try store.keep(samples[0], limit: 3) == .known)
        #expect(try store.keep(samples[1], limit: 3) == .kept)
        #expect(try store.keep(samples[2], limit: 3) == .kept)
        #expect(try store.keep(samples[3], limit: 3) == .full)
        #expect(try store.claimed() == [])
        #expect(try store.page().events.entries == [])
        let kept = try store.unverified(after: 0, limit: 10).entries
        #expect(kept.map(\.body) == samples[..<3].map(\.payload))
        try store.receive([.sample(1, verifying: samples[0].id)])
        try store.settle([samples[1].id], as: .forged)
        try store.settle([samples[2].id], as: .rejected)
        #expect(try store.unverified(after: 0, limit: 10).entries == [])
        #expect(try store.states() == ["event-1": .pending, samples[2].id.rawValue: .rejected])
        #expect(try store.counts().present == [.pending: 1, .rejected: 1])
        #expect(try store.page().events.entries.map(\.id) == [.sample(1)])
    }

    @Test(arguments: SQLBackend.available)
    func `a cursor never misses an event that was committed late`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        _ = try fixture.preparedServerStore()
        let (writers, rounds) = (6, 25)
        let finished = Mutex(0)
        let seen = Mutex<[EventID]>([])
        try atOnce(writers + 1) { number in
            let store = try fixture.serverStore()
            guard number < writers else {
                var (cursor, isEnd) = (EventCursor?.none, false)
                while true {
                    let wasEnd = isEnd
                    isEnd = finished.withLock { $0 == writers }
                    let page = try store.page(after: cursor, limit: 7)
                    seen.withLock { $0 += page.events.entries.map(\.id) }
                    let position = cursor?.position ?? 0
                    #expect(page.events.entries.allSatisfy { $0.position > position })
                    cursor = page.cursor
                    if page.events.isEmpty, wasEnd { return }
                }
            }
            defer { finished.withLock { $0 += 1 } }
            for round in 0..<rounds {
                let first = (number * rounds + round) * 3
                try store.receive((first..<first + 3).map { try .sample($0, of: $0) })
            }
        }
        let all = try (0..<writers * rounds * 3).map { try EventID.sample($0) }
        #expect(seen.withLock { $0.count } == all.count)
        #expect(seen.withLock { Set($0) } == Set(all))
    }

    @Test(arguments: SQLBackend.available)
    func `an event that several processes receive at once is new to one of them`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        _ = try fixture.preparedServerStore()
        let stored = Mutex<[EventID]>([])
        try atOnce(4) { number in
            let store = try fixture.serverStore()
            let order = number.isMultiple(of: 2) ? Array(0..<40) : Array((0..<40).reversed())
            for group in stride(from: 0, to: 40, by: 8) {
                let events = try order[group..<group + 8].map {
                    try IncomingEvent.sample($0, of: $0)
                }
                let receipt = try store.receive(events)
                stored.withLock { $0 += receipt.stored }
            }
        }
        #expect(stored.withLock { $0.count } == 40)
        #expect(try fixture.serverStore().counts().present == [.pending: 40])
    }

    @Test(arguments: SQLBackend.available)
    func `events are listed newest first, by state, type, user and time`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        try store.receive((1...5).map { try .sample($0, of: $0 % 2) })
        try store.receive([.sample(6, isDelivered: false)])
        func list(_ filter: InboxFilter, before: Int? = nil, limit: Int = 10) throws -> [String] {
            try store.inbox(filter, before: before, limit: limit).entries.map(\.id.rawValue)
        }
        #expect(try list(InboxFilter(), limit: 2) == ["event-6", "event-5"])
        let page = try store.inbox(InboxFilter(), before: nil, limit: 2)
        #expect(try list(InboxFilter(), before: page.next, limit: 2) == ["event-4", "event-3"])
        #expect(try list(InboxFilter(states: [.none])) == ["event-6"])
        #expect(try list(InboxFilter(states: [.pending, .none])).count == 6)
        #expect(try list(InboxFilter(type: "account-deleted")) == [])
        #expect(
            try list(InboxFilter(userID: VaultUser.sample(0).userID)) == ["event-4", "event-2"])
        #expect(try list(InboxFilter(since: NumericDate(1_790_000_001))) == [])
        #expect(try store.inboxEvent(.sample(6)).entries.first?.state == InboxState.none)
        #expect(try store.inboxEvent(.sample(7)).isEmpty)
    }

    @Test(arguments: SQLBackend.available)
    func `erased events of a user are still recognised as known`(_ backend: SQLBackend) async throws
    {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(1, of: 1), .sample(2, of: 2), .sample(3, of: 1)])
        _ = try store.keep(.sample(1, of: 1), limit: 10)
        #expect(try store.claimed(limit: 1) == [1])
        try store.note([.accepted(.sample(1))], by: "a")
        #expect(try store.forget(VaultUser.sample(1).userID) == 3)
        #expect(try store.forget(VaultUser.sample(1).userID) == 0)
        #expect(
            try store.states() == [
                "event-1": .done, "event-2": .pending, "event-3": .discarded,
            ])
        #expect(try store.inboxEvent(.sample(1)).entries.first?.body == nil)
        #expect(try store.page().events.entries.map(\.id) == [.sample(2)])
        #expect(try store.receive([.sample(1, of: 1)]).stored == [])
        #expect(try store.replay(.events([.sample(1), .sample(3)])) == [])
        #expect(try store.counts().present == [.done: 1, .pending: 1, .discarded: 1])
    }

    @Test(arguments: SQLBackend.available)
    func `ended events are deleted in time, and a jti is known until it expires`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((1...6).map { try .sample($0, of: $0, expiresAt: 1_700_000_000) })
        try store.receive([.sample(7, of: 7)])
        for number in [1, 2, 7] { try store.accept(number) }
        _ = try store.discard([.sample(3)])
        try fixture.run("UPDATE inbox_event SET state = 'dead' WHERE jti = 'event-4'")
        try fixture.run("UPDATE server_count SET value = 1 WHERE name = 'inbox.dead'")
        try fixture.run(
            "INSERT INTO server_count (name, value) VALUES ('inbox.dead', 1) ON CONFLICT (name) DO NOTHING"
        )
        #expect(try store.purge(Retention(), limit: 10) == 0)
        let month = 31 * 86_400
        try fixture.run("UPDATE inbox_event SET changed_at = changed_at - \(month)")
        #expect(try store.purge(Retention(events: .seconds(32 * 86_400)), limit: 10) == 0)
        #expect(try store.purge(Retention(), limit: 1) == 1)
        #expect(try store.purge(Retention(), limit: 10) == 1)
        #expect(try store.states().keys.sorted() == ["event-4", "event-5", "event-6", "event-7"])
        try fixture.run("UPDATE inbox_event SET changed_at = changed_at - 60 * 86400")
        #expect(try store.purge(Retention(), limit: 10) == 1)
        #expect(try store.states().keys.sorted() == ["event-5", "event-6", "event-7"])
    }

    private func kind(_ body: () throws -> Void) throws -> StoreError.Kind? {
        do {
            try body()
            return nil
        } catch let error as StoreError {
            return error.kind
        }
    }
}

extension ServerStore {
    /// Delivers an event of a user who has no other.
    func accept(_ number: Int) throws {
        _ = try claimDeliveries(limit: 100, for: .short("accept"))
        try note([.accepted(.sample(number))], by: "accept")
    }
}
