import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords
import Testing

extension StoreContract {
    static let changing = [
        StoreContract("a decision gets the current record, and keeps, replaces or removes it") {
            fixture in
            let store = try fixture.vault()
            let (old, new, gone) = (VaultUser.sample(1), VaultUser.sample(2), VaultUser.sample(3))
            let absent = VaultUser.sample(4)
            try store.put([VaultRecord(old), VaultRecord(gone)])
            var seen: [VaultUser: VaultRecord?] = [:]
            try store.change([gone, new, old, absent], releasedBy: nil) { user, record in
                seen[user] = record
                return switch user {
                case new: .put(VaultRecord(new, .dead))
                case gone: .remove
                case absent: .remove
                default: .keep
                }
            }
            let expected: [VaultUser: VaultRecord?] = [
                old: VaultRecord(old), new: nil, gone: VaultRecord(gone), absent: nil,
            ]
            #expect(seen == expected)
            #expect(try store.all() == [VaultRecord(old), VaultRecord(new, .dead)])
        },
        StoreContract("every part of a record can change") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(1), checkedAt: 5)])
            try store.register(.second)
            let next = VaultRecord(
                id: VaultRecordID(.sample(2), .sample(9)), state: .accountDeleted, keyNumber: 2,
                sealed: [], storedAt: NumericDate(-1), changedAt: NumericDate(0), checkedAt: nil)
            try store.change(.users([.sample(1), .sample(2)]), releasing: nil) { page in
                VaultChanges(updates: [VaultUpdate(next, replacing: page.records[0].id)])
            }
            #expect(try fixture.store().all() == [next])
        },
        StoreContract("after a newer key is registered, no record can use an older one") {
            fixture in
            let store = try fixture.vault()
            let kept = VaultRecord(.sample(1), sealed: [1])
            try store.put([kept])
            try store.register(.second)
            for record in [VaultRecord(.sample(2)), VaultRecord(.sample(1), sealed: [2])] {
                let error = #expect(throws: StoreError.self) { try store.put([record]) }
                #expect(error?.kind == .keySuperseded)
            }
            // A record that is not encrypted again may change otherwise.
            try store.put([kept.becoming(.dead)])
            #expect(try store.all() == [kept.becoming(.dead)])
        },
        StoreContract("decisions about one user are made one after the other") { fixture in
            let store = try fixture.vault()
            let user = VaultUser.sample(1)
            var versions: [Int?] = []
            try store.change([user, user, user, user], releasedBy: nil) { _, record in
                versions.append(record?.number)
                return versions.count == 3
                    ? .remove : .put(VaultRecord(user, number: (record?.number ?? 0) + 1))
            }
            #expect(versions == [nil, 1, 2, nil])
            #expect(try store.all().map(\.number) == [1])
        },
        StoreContract("a change whose decision throws is undone") { fixture in
            let store = try fixture.vault()
            let users = VaultUser.samples(3)
            try store.put([VaultRecord(users[0]), VaultRecord(users[1])])
            #expect(try store.claim(.long("a"), limit: 1) == [users[0]])
            let refusal = StoreError(.sealBroken, "no")
            #expect(throws: refusal) {
                try store.change(users, releasedBy: "a") { user, record throws(StoreError) in
                    if user == users[2] { throw refusal }
                    return user == users[1] ? .remove : .put(VaultRecord(user, .dead))
                }
            }
            #expect(try store.all() == [VaultRecord(users[0]), VaultRecord(users[1])])
            #expect(try store.claim(.long("b")) == [users[1]], "the lease was not given back")
        },
        StoreContract("of many users, those with records are found, few or many") { fixture in
            let store = try fixture.vault()
            let users = VaultUser.samples(1200)
            let known = [[0], [600, 1199], Array(1..<299), [700], [701], Array(702..<1100)]
            var expected: [VaultRecord] = []
            for numbers in known {
                let new = numbers.map { VaultRecord(users[$0]) }
                try store.put(new + [VaultRecord(users[numbers[0]], token: 1)])
                expected += new + [VaultRecord(users[numbers[0]], token: 1)]
                var seen: [VaultRecord] = []
                try store.change(.users(users.reversed()), releasing: nil) { page in
                    seen = page.records
                    return VaultChanges()
                }
                #expect(seen == expected.sorted { $0.id < $1.id })
                #expect(try store.records(of: users).records == seen)
                let tokens = users.map { VaultRecordID($0, .sample(1)) }
                #expect(
                    try store.records(of: .tokens(tokens)).records
                        == seen.filter { $0.id.fingerprint == .sample(1) })
            }
        },
        StoreContract("a change of an unknown user changes nothing") { fixture in
            let store = try fixture.vault()
            try store.change([], releasedBy: "a") { _, _ in .remove }
            #expect(try store.all() == [])
        },
    ]
}
