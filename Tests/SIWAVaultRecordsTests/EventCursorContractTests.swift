import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// What a cursor promises on both databases.
@Suite(.blocking) struct EventCursorContractTests {
    @Test(arguments: SQLBackend.available)
    func `a database that was restored from an older backup refuses newer cursors`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((1...3).map { try .sample($0, of: $0) })
        let early = try store.page(limit: 2).cursor
        try fixture.save()
        try store.receive((4...6).map { try .sample($0, of: $0) })
        let late = try store.page().cursor
        try fixture.restore()
        #expect(try store.numbers(after: early) == [3])
        #expect(try store.restart(after: late) != nil)
        // Up to the cursor's position and beyond, other events are at the same positions.
        try store.receive((4...9).map { try .sample($0, of: $0) })
        let restart = try #require(try store.restart(after: late))
        #expect(try store.numbers(after: restart) == Array(1...9))
        #expect(try store.numbers(after: early) == Array(3...9))
    }

    @Test(arguments: SQLBackend.available)
    func `each event of a commit has a mark of its own`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        for commit in [1...3, 4...6] {
            try store.receive(commit.map { try .sample($0, of: $0) })
        }
        let marks = try (1...6).compactMap { try store.page(limit: $0).cursor.mark }
        #expect(Set(marks).count == 6)
        #expect(marks[3] != marks[2] + 1, "another commit begins with another random number")
    }

    @Test(arguments: SQLBackend.available)
    func `deleted events that a caller has not read make its cursor unknown`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((1...5).map { try .sample($0, of: $0, expiresAt: 1_700_000_000) })
        let cursors = try (1...5).map { try store.page(limit: $0).cursor }
        let start = EventHistory().start
        for number in [2, 3] { try store.accept(number) }
        try fixture.purge()
        for (index, cursor) in cursors.enumerated() {
            let isGood = index >= 2
            #expect(try (store.restart(after: cursor) == nil) == isGood, "\(index + 1)")
        }
        let restart = try #require(try store.restart(after: start))
        #expect(try store.numbers(after: restart) == [1, 4, 5])
        let between = try store.page(after: restart, limit: 1).cursor
        // Below the level, and not yet read.
        try store.accept(1)
        try fixture.purge()
        #expect(try store.restart(after: between) != nil)
        #expect(try store.numbers(after: cursors[2]) == [4, 5])
        for number in [4, 5] { try store.accept(number) }
        try fixture.purge()
        #expect(try store.numbers(after: cursors[4]) == [])
        #expect(try store.restart(after: cursors[3]) != nil)
    }

    @Test(arguments: SQLBackend.available)
    func `forgeries, discarded events and erased events do not change cursors`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((1...3).map { try .sample($0, of: $0, expiresAt: 1_700_000_000) })
        let cursors = try (1...3).map { try store.page(limit: $0).cursor }
        _ = try store.keep(.sample(1), limit: 10)
        try store.settle([UnverifiedNotification.sample(1).id], as: .forged)
        _ = try store.keep(.sample(2), limit: 10)
        try store.settle([UnverifiedNotification.sample(2).id], as: .rejected)
        _ = try store.discard([.sample(2)])
        _ = try store.forget(VaultUser.sample(3).userID)
        try fixture.purge()
        #expect(try store.states() == ["event-1": .pending])
        try store.receive([.sample(4, of: 4)])
        for cursor in cursors { #expect(try store.numbers(after: cursor) == [4]) }
        #expect(try store.restart(after: EventHistory().start) == nil)
    }

    @Test(arguments: SQLBackend.available)
    func `a page has the requested types only, and its cursor skips the others`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive((1...4).map { try .sample($0, of: $0) })
        try fixture.run("UPDATE inbox_event SET type = 'revocation.ended' WHERE position IN (2, 4)")
        try fixture.run("UPDATE inbox_event SET type = 'unknown-today' WHERE position = 3")
        func numbers(_ selection: EventSelection) throws -> [Int] {
            guard case .page(let page) = try store.events(selection, after: nil, limit: 10)
            else { return [-1] }
            #expect(page.cursor.position == 4)
            return page.events.entries.map(\.position)
        }
        #expect(try numbers(.apples) == [1, 3])
        #expect(try numbers(.types([.revocationEnded])) == [2, 4])
        #expect(try numbers(.types([.tokenDead])) == [])
        #expect(try numbers(.types([.consentRevoked, .revocationEnded])) == [1, 2, 4])
    }

    @Test(arguments: SQLBackend.available)
    func `an inbox without its position or deletion level is not ready`(
        _ backend: SQLBackend
    ) async throws {
        for name in ["position", "deletion_level", "deletion_mark", "deletion_round"] {
            for damage in ["SET value = -1", ""] {
                let fixture = try await backend.fixture()
                let store = try fixture.preparedServerStore()
                try store.receive([.sample(1)])
                try store.check()
                try fixture.run(
                    damage.isEmpty
                        ? "DELETE FROM server_count WHERE name = $1"
                        : "UPDATE server_count \(damage) WHERE name = $1", .text(name))
                #expect(throws: StoreError.self, "\(name) \(damage)") { try store.check() }
            }
        }
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([.sample(1), .sample(2)])
        try fixture.run("UPDATE server_count SET value = 1 WHERE name = 'position'")
        #expect(throws: StoreError.self) { try store.check() }
    }
}

extension ServerStore {
    /// The numbers of the events after a cursor; fails if it is unknown.
    fileprivate func numbers(after cursor: EventCursor) throws -> [Int] {
        try page(after: cursor).events.entries.compactMap {
            Int($0.id.rawValue.split(separator: "-").last ?? "")
        }
    }

    /// The new beginning if a cursor is unknown.
    fileprivate func restart(after cursor: EventCursor) throws -> EventCursor? {
        guard case .unknownCursor(let restart) = try events(.apples, after: cursor, limit: 10)
        else { return nil }
        return restart
    }
}

extension SQLStoreFixture {
    private static var tables: [String] { ["inbox_event", "inbox_mark", "server_count"] }

    /// Copies the inbox, as a backup does.
    fileprivate func save() throws {
        for table in Self.tables {
            try run("CREATE TABLE saved_\(table) AS SELECT * FROM \(table)")
        }
    }

    /// Makes the inbox as it was.
    fileprivate func restore() throws {
        for table in Self.tables {
            try run("DELETE FROM \(table)")
            try run("INSERT INTO \(table) SELECT * FROM saved_\(table)")
        }
    }

    /// Deletes what has ended, as if its time were over.
    fileprivate func purge() throws {
        try run("UPDATE inbox_event SET changed_at = 1")
        _ = try serverStore().purge(Retention(), limit: 100)
    }
}
