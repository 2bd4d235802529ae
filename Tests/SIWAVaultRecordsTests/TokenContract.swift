import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

extension StoreContract {
    /// What a store promises about several tokens of one user.
    static let tokens = [
        StoreContract("the tokens of a user are ordered by their fingerprints") { fixture in
            let store = try fixture.vault()
            let records = [
                VaultRecord(.sample(1), token: 0xFF), VaultRecord(.sample(1), .dead, token: 1),
                VaultRecord(.sample(2), token: 0), VaultRecord(.sample(1), token: 0xA0),
            ]
            try store.put(records)
            let inOrder = [records[1], records[3], records[0], records[2]]
            #expect(try store.all() == inOrder)
            #expect(try store.records(of: [.sample(1)]).records == Array(inOrder.prefix(3)))
            for filter in [VaultFilter(), VaultFilter(clientID: records[0].user.clientID)] {
                var (found, last): ([VaultRecord], VaultRowKey?) = ([], nil)
                while case let page = try store.records(filter, after: last, limit: 1),
                    let next = page.next
                {
                    found += page.records
                    last = next
                }
                #expect(found == inOrder, "\(filter)")
            }
            #expect(try store.all(VaultFilter(states: [.active])) == Array(inOrder.dropFirst()))
        },
        StoreContract("a decision sees all tokens of its users, and no others") { fixture in
            let store = try fixture.vault()
            let records = (1...3).map { VaultRecord(.sample($0 / 2), token: $0) }
            try store.put(records)
            try store.change(.users([.sample(1)]), releasing: nil) { page in
                #expect(page.records == Array(records[1...]))
                return VaultChanges(removals: [VaultRowKey(records[2].id)])
            }
            #expect(try store.all() == Array(records.prefix(2)))
        },
        StoreContract("a decision about tokens sees no others of their users") { fixture in
            let store = try fixture.vault()
            let records = (1...5).map { VaultRecord(.sample($0 / 2), token: $0) }
            try store.put(records)
            let absent = VaultRecordID(.sample(1), .sample(9))
            let some = VaultScope.tokens([3, 1, 1].map { records[$0].id } + [absent])
            let dead = records[1].becoming(.dead)
            try store.change(some, releasing: nil) { page in
                #expect(page.records == [records[1], records[3]])
                return VaultChanges(
                    updates: [VaultUpdate(dead, replacing: dead.id)],
                    removals: [VaultRowKey(records[3].id)])
            }
            #expect(try store.records(of: some).records == [dead])
            #expect(try store.all() == [records[0], dead, records[2], records[4]])
        },
        StoreContract("each token is claimed separately, and keeps its lease under a new user id") {
            fixture in
            let store = try fixture.vault()
            let records = (1...2).map { VaultRecord(.sample(1), token: $0) }
            try store.put(records)
            let mine = try store.claimed(.long("a"), limit: 1).records
            let others = try store.claimed(.long("b")).records
            #expect(Set((mine + others).map(\.id)) == Set(records.map(\.id)))
            let new = VaultRecord(.sample(2), token: 9)
            try store.change(.users([.sample(1), .sample(2)]), releasing: nil) { _ in
                VaultChanges(updates: [VaultUpdate(new, replacing: mine[0].id)])
            }
            #expect(try store.claim(.long("c")) == [])
            #expect(try store.renew([new.id, mine[0].id], for: .long("a")).held == [new.id])
            let release = VaultRelease(owner: "a", rows: [VaultRowKey(new.id)])
            try store.change(.users([.sample(2)]), releasing: release) { _ in VaultChanges() }
            #expect(try store.claimed(.long("d")).records.map(\.id) == [new.id])
        },
        StoreContract("only the named leases end") { fixture in
            let store = try fixture.vault()
            let records = (1...3).map { VaultRecord(.sample(1), token: $0) }
            try store.put(records)
            #expect(try store.claimed(.long("a")).records.count == 3)
            let release = VaultRelease(
                owner: "a", rows: [VaultRowKey(records[0].id), VaultRowKey(records[1].id)])
            try store.change(.users([.sample(1)]), releasing: release) { _ in
                VaultChanges(updates: [
                    VaultUpdate(records[1].becoming(.dead), replacing: records[1].id),
                    VaultUpdate(records[2].becoming(.dead), replacing: records[2].id),
                ])
            }
            #expect(
                Set(try store.claimed(.long("b")).records.map(\.id))
                    == [records[0].id, records[1].id])
        },
        StoreContract("a lease can be renewed by its owner until it ends") { fixture in
            let store = try fixture.vault()
            let records = (1...2).map { VaultRecord(.sample(1), token: $0) }
            try store.put(records)
            let ids = records.map(\.id)
            let claimed = try store.claimed(.short("a"), limit: 1)
            #expect(claimed.remaining >= .seconds(1))
            let renewed = try store.renew(ids, for: .long("a"))
            #expect(renewed.held == Set(claimed.records.map(\.id)))
            #expect(renewed.remaining >= .seconds(3600))
            #expect(try store.renew(ids, for: .long("b")).held == [])
            #expect(try store.claimed(.short("b")).records.count == 1)
            try await eventually("the lease of b ends") {
                fixture.passTime()
                return try !store.claimed(.long("c")).records.isEmpty
            }
            #expect(try store.renew(ids, for: .short("b")).held == [])
            #expect(try store.renew(ids, for: .long("a")).held == renewed.held)
        },
        StoreContract(
            "records that others hold are counted, with the time at which they are released"
        ) { fixture in
            let store = try fixture.vault()
            let users = VaultUser.samples(4)
            try store.put(users.map { VaultRecord($0) } + [VaultRecord(.sample(9), .dead)])
            func held(_ owner: String) throws -> VaultLeasedByOthers {
                try store.leasedByOthers(
                    than: owner, VaultFilter(clientID: users[0].clientID, states: [.active]))
            }
            #expect(try held("a") == VaultLeasedByOthers(count: 0, remaining: .zero))
            _ = try store.claim(.long("a"), VaultFilter(states: [.active]), limit: 1)
            let half = Lease(owner: "b", duration: .seconds(1800))
            _ = try store.claim(half, VaultFilter(states: [.active]), limit: 2)
            _ = try store.claim(.long("b"), VaultFilter(states: [.dead]))
            #expect(try held("a").count == 2 && held("b").count == 1 && held("c").count == 3)
            #expect(try (3590...3601).contains(held("c").remaining.components.seconds))
            #expect(try (1790...1801).contains(held("a").remaining.components.seconds))
        },
        StoreContract("the newest token of each user is selected") { fixture in
            let store = try fixture.vault()
            try store.put([
                VaultRecord(.sample(1), token: 1, number: 3),
                VaultRecord(.sample(1), token: 2, number: 5),
                VaultRecord(.sample(1), .dead, token: 3, number: 9),
                VaultRecord(.sample(2), token: 4, number: 7),
                VaultRecord(.sample(2), token: 5, number: 7),
                VaultRecord(VaultUser("another", "u000001"), token: 6, number: 6),
                VaultRecord(.sample(3), token: 7, number: 9, checkedAt: 50),
                VaultRecord(.sample(3), token: 8, number: 2, checkedAt: 500),
            ])
            func samples(_ numbers: Int...) -> Set<TokenFingerprint> {
                Set(numbers.map { .sample($0) })
            }
            let active = VaultFilter(states: [.active], isNewestOnly: true)
            #expect(try store.claimedTokens(active) == samples(2, 5, 6, 7))
            #expect(try store.claimedTokens(VaultFilter(isNewestOnly: true)) == samples(3, 5, 6, 7))
            var ofClient = active
            ofClient.clientID = VaultUser.sample(1).clientID
            #expect(try store.claimedTokens(ofClient) == samples(2, 5, 7))
            // One of the user's tokens was checked since, so that the others are not checked again.
            var unchecked = active
            unchecked.notCheckedSince = NumericDate(100)
            #expect(try store.claimedTokens(unchecked) == samples(2, 5, 6))
            unchecked.notCheckedSince = NumericDate(1000)
            #expect(try store.claimedTokens(unchecked) == samples(2, 5, 6, 7))
        },
        StoreContract("records that changed before a time are selected") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(1))])
            let moment = 1_700_000_001
            #expect(try store.all(VaultFilter(changedBefore: NumericDate(moment))) == [])
            #expect(try store.all(VaultFilter(changedBefore: NumericDate(moment + 1))).count == 1)
        },
    ]
}

extension VaultStore {
    /// The tokens that a filter selects, read and claimed.
    fileprivate func claimedTokens(_ filter: VaultFilter) throws -> Set<TokenFingerprint> {
        let records = try claimed(.long("\(filter)"), filter).records
        #expect(try all(filter) == records)
        let release = VaultRelease(
            owner: "\(filter)", rows: Set(records.map { VaultRowKey($0.id) }))
        try change(.users(records.map(\.user)), releasing: release) { _ in VaultChanges() }
        return Set(records.map(\.id.fingerprint))
    }
}
