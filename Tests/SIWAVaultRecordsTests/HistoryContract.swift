import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords
import Testing

extension StoreContract {
    /// What a store promises about the history.
    static let history = [
        StoreContract("an entry is read back as it was written, even if the record changes") {
            fixture in
            let store = try fixture.vault()
            let record = VaultRecord(.sample(1), token: 7)
            let full = VaultHistoryEntry(
                at: NumericDate(5), event: .revoked, user: record.user, fingerprint: .sample(7),
                details: VaultEventDetails(
                    evidence: .acceptedThenRejected, httpStatus: 200,
                    appleRequestID: "'; DROP TABLE vault_history; --"),
                actor: VaultActor(command: "batch revoke", host: "höst"),
                newUserID: UserID(unchecked: "é"))
            let empty = VaultHistoryEntry(
                at: NumericDate(6), event: .removed, user: record.user, fingerprint: .sample(),
                actor: VaultActor(command: "", host: ""))
            try store.change(.users([record.user]), releasing: nil) { _ in
                VaultChanges(updates: [VaultUpdate(record, replacing: nil)], history: [full])
            }
            try store.change(.users([record.user]), releasing: nil) { _ in
                VaultChanges(removals: [VaultRowKey(record.id)], history: [empty])
            }
            #expect(try fixture.store().entries() == [full, empty])
            for event in VaultHistoryEvent.allCases {
                try store.add([entry(9, event)])
                let latest = VaultHistoryFilter(since: NumericDate(9))
                #expect(try store.entries(latest).last?.event == event)
            }
        },
        StoreContract("a change and its history entry are stored together") { fixture in
            let store = try fixture.vault()
            let record = VaultRecord(.sample(1), key: 7)
            #expect(throws: StoreError.self) {
                try store.change(.users([record.user]), releasing: nil) { _ in
                    VaultChanges(
                        updates: [VaultUpdate(record, replacing: nil)], history: [entry(1)])
                }
            }
            #expect(try store.entries() == [] && store.all() == [])
            try store.put([VaultRecord(.sample(1))])
            _ = try store.claim(VaultFilter(), limit: 1, for: .long("a")) {
                VaultClaimChange($0.becoming(.revoking), entry(1, .revoking))
            }
            #expect(try store.entries() == [entry(1, .revoking)])
        },
        StoreContract("the history is read in pages, oldest first") { fixture in
            let store = try fixture.vault()
            let times = [5, 1, 9, 1, 5, 7, -3]
            for (number, time) in times.enumerated() {
                try store.add([entry(time, user: "u\(number)")])
            }
            let users = ["u6", "u1", "u3", "u0", "u4", "u5", "u2"]
            #expect(try store.entries(limit: 2).map(\.user.userID.rawValue) == users)
            let range = VaultHistoryFilter(since: NumericDate(1), until: NumericDate(7))
            #expect(try store.entries(range, limit: 3).map(\.at.seconds) == [1, 1, 5, 5])
        },
        StoreContract("a filter selects entries by user, client, time and event") { fixture in
            let store = try fixture.vault()
            var all: [VaultHistoryEntry] = []
            for (number, event) in VaultHistoryEvent.allCases.enumerated() {
                for client in ["one", "two"] {
                    for user in ["a", "b"] {
                        all.append(entry(number, event, user: user, client: client))
                    }
                }
            }
            try store.add(all)
            for user in [nil, "a", "none"].map({ $0.map { UserID(unchecked: $0) } }) {
                for client in [nil, "one"].map({ $0.map { ClientID(unchecked: $0) } }) {
                    for events in [[], [VaultHistoryEvent.dead, .removed]] {
                        for time in [nil, 3] {
                            let filter = VaultHistoryFilter(
                                userID: user, clientID: client,
                                since: time.map { NumericDate($0) },
                                until: time.map { NumericDate($0 + 3) }, events: events)
                            let ids = Set([user].compactMap(\.self))
                            let expected = all.filter { filter.matches($0, ids: ids) }
                            #expect(
                                Set(try store.entries(filter, limit: 3)) == Set(expected),
                                "\(filter)")
                        }
                    }
                }
            }
        },
        StoreContract("a user's history is found under every id that the user had") { fixture in
            let store = try fixture.vault()
            try store.add([
                entry(1, user: "old"), entry(2, .remapped, user: "old", to: "mid"),
                entry(3, .remapped, user: "mid", to: "new"), entry(4, .revoked, user: "new"),
                entry(5, user: "other"), entry(6, .remapped, user: "other", to: "else"),
            ])
            for id in ["old", "mid", "new"] {
                let found = try store.entries(
                    VaultHistoryFilter(userID: UserID(unchecked: id)), limit: 2)
                #expect(found.map(\.at.seconds) == [1, 2, 3, 4], "\(id)")
            }
            let filter = VaultHistoryFilter(
                userID: UserID(unchecked: "else"), clientID: ClientID(unchecked: "client"))
            #expect(try store.entries(filter).map(\.at.seconds) == [5, 6])
        },
        StoreContract("the history of one user of one client is deleted, under all ids") {
            fixture in
            let store = try fixture.vault()
            let kept = [entry(5, user: "other"), entry(6, user: "old", client: "another")]
            try store.add(
                [
                    entry(1, user: "old"), entry(2, .remapped, user: "old", to: "new"),
                    entry(3, user: "new"),
                ] + kept)
            let user = VaultUser("client", "new")
            try store.change(.users([user]), releasing: nil) { _ in VaultChanges(erased: [user]) }
            #expect(try store.entries() == kept)
        },
        StoreContract("old entries are deleted a few at a time, oldest first") { fixture in
            let store = try fixture.vault()
            try store.add((1...5).map { entry($0) })
            #expect(try store.historyCount(since: nil, until: nil) == 5)
            #expect(try store.historyCount(since: NumericDate(2), until: NumericDate(4)) == 2)
            #expect(try store.pruneHistory(before: NumericDate(4), limit: 2) == 2)
            #expect(try store.entries().map(\.at.seconds) == [3, 4, 5])
            #expect(try store.pruneHistory(before: NumericDate(4), limit: 2) == 1)
            #expect(try store.pruneHistory(before: NumericDate(4), limit: 2) == 0)
            #expect(try store.entries().map(\.at.seconds) == [4, 5])
        },
    ]
}

private func entry(
    _ at: Int, _ event: VaultHistoryEvent = .stored, user: String = "u", client: String = "client",
    to new: String? = nil
) -> VaultHistoryEntry {
    VaultHistoryEntry(
        at: NumericDate(at), event: event, user: VaultUser(client, user), fingerprint: .sample(1),
        actor: VaultActor(command: "test", host: "here"),
        newUserID: new.map { UserID(unchecked: $0) })
}

extension VaultStore {
    fileprivate func add(_ entries: [VaultHistoryEntry]) throws(StoreError) {
        try change(.users([]), releasing: nil) { _ in VaultChanges(history: entries) }
    }

    /// All entries that a filter selects, read in pages.
    fileprivate func entries(
        _ filter: VaultHistoryFilter = VaultHistoryFilter(), limit: Int = 100
    ) throws(StoreError) -> [VaultHistoryEntry] {
        var (all, last): ([VaultHistoryEntry], VaultHistoryPosition?) = ([], nil)
        while case let page = try history(filter, after: last, limit: limit), let next = page.next {
            all += page.entries
            last = next
        }
        return all
    }
}
