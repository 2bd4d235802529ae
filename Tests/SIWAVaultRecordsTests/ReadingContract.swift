import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords
import Testing

extension StoreContract {
    static let reading = [
        StoreContract("a record is read back as it was stored") { fixture in
            let store = try fixture.vault()
            let records =
                VaultState.allCases.enumerated().map { VaultRecord(.sample($0), $1) } + [
                    VaultRecord(.sample(100), token: 0xABC, sealed: [], checkedAt: -1),
                    VaultRecord(.sample(101), sealed: Array(0...255), checkedAt: 1_800_000_000),
                ]
            try store.put(records)
            for record in records {
                #expect(try fixture.store().record(of: record.user) == record)
            }
            #expect(try store.all() == records)
        },
        StoreContract("an id can contain any character") { fixture in
            let store = try fixture.vault()
            let users = Samples.oddIDs.flatMap {
                [VaultUser("com.example.app", $0), VaultUser("';DROP", $0 + $0)]
            }
            try store.put(users.enumerated().map { VaultRecord($1, number: $0 + 1) })
            for (number, user) in users.enumerated() {
                #expect(try store.record(of: user)?.number == number + 1)
                #expect(try store.counts(of: user.clientID).isEmpty == false)
            }
            #expect(try store.all().map(\.user) == users.sorted())
            #expect(Set(try store.claim(.long("'; --"))) == Set(users))
            try store.release(users, by: "'; --")
            try store.change(users, releasedBy: nil) { _, _ in .remove }
            #expect(try store.all() == [])
        },
        StoreContract("ids that only look alike are different") { fixture in
            let store = try fixture.vault()
            let users = ["caf\u{E9}", "cafe\u{301}"].map { VaultUser("com.example.app", $0) }
            try store.put(users.enumerated().map { VaultRecord($1, number: $0 + 1) })
            #expect(try users.map { try store.record(of: $0)?.number } == [1, 2])
        },
        StoreContract("clients are found after any user of the ones before") { fixture in
            let store = try fixture.vault()
            let last = String(repeating: "\u{10FFFF}", count: 63) + "zzz"
            try store.put([VaultRecord(VaultUser("a", last)), VaultRecord(VaultUser("b", "u"))])
            #expect(try store.clients().map(\.rawValue) == ["a", "b"])
        },
        StoreContract("records are ordered by client and by the UTF-8 of the user id") { fixture in
            let store = try fixture.vault()
            let ids = ["A", "B", "a", "a ", "a.b", "aB", "z", "é", "\u{FF5E}", "\u{1F600}"]
            let clients = ["A", "B", "a", "a.b", "aB", "z", "~"]
            let users = clients.flatMap { client in ids.map { VaultUser(client, $0) } }
            try store.put(users.shuffled().map { VaultRecord($0) })
            #expect(try store.all().map(\.user) == users)
        },
        StoreContract("each client is listed once, in order, whatever its user ids are") {
            fixture in
            let store = try fixture.vault()
            #expect(try store.clients() == [])
            let clients = ["A", "a", "a.b", "aB"]
            let ids = [" ", "z", "\u{10FFFF}", String(repeating: "\u{10FFFF}", count: 62)]
            try store.put(clients.flatMap { client in ids.map { VaultRecord(.init(client, $0)) } })
            #expect(try store.clients().map(\.rawValue) == clients)
        },
        StoreContract("a filter selects matching records, page by page") { fixture in
            let store = try fixture.vault()
            let population = Samples.population
            try store.putOfTwoKeys(population)
            for filter in Samples.filters {
                let expected = population.filter { filter.matches($0) }.map(\.user).sorted()
                var found: [VaultUser] = []
                var last: VaultRowKey?
                while case let page = try store.records(filter, after: last, limit: 3),
                    !page.isEmpty
                {
                    #expect(page.records.count <= 3)
                    found += page.records.map(\.user)
                    last = page.next
                }
                #expect(found == expected, "\(filter)")
            }
        },
        StoreContract("a page can begin after a place without a record") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(VaultUser("b", "2")), VaultRecord(VaultUser("b", "4"))])
            for client in [nil, ClientID(unchecked: "b")] {
                let filter = VaultFilter(clientID: client)
                for (place, expected) in [
                    (VaultUser("a", "9"), ["2", "4"]), (VaultUser("b", "3"), ["4"]),
                    (VaultUser("b", "4"), []), (VaultUser("c", "1"), []),
                ] {
                    let key = VaultRowKey(VaultRecordID(place, .sample()))
                    let page = try store.records(filter, after: key, limit: 9).records
                    #expect(page.map(\.user.userID.rawValue) == expected, "\(place) \(filter)")
                }
            }
        },
        StoreContract("a page of length zero is empty") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(1))])
            #expect(try store.records(VaultFilter(), after: nil, limit: 0).isEmpty)
            #expect(try store.claim(.long("a"), limit: 0) == [])
        },
        StoreContract("records are counted by state, for one client or for all") { fixture in
            let store = try fixture.vault()
            try store.putOfTwoKeys(Samples.population)
            for client in [nil, ClientID(unchecked: "one"), ClientID(unchecked: "none")] {
                let chosen = Samples.population.filter {
                    client == nil || $0.user.clientID == client
                }
                let expected = Dictionary(chosen.map { ($0.state, 1) }, uniquingKeysWith: +)
                #expect(try store.counts(of: client) == expected)
            }
        },
    ]
}

enum Samples {
    static let oddIDs = [
        "'; DROP TABLE vault_token; --", "\"", "''", "\\", "\\'", "%", "_", "$1", "?1", ":a", "@a",
        "a\nb", "\t", "a b ", " ", "é", "日本語", "😀😀", "\u{10FFFF}", "\u{1}", "NULL", "0", "x'00'",
        "{a}", "ß",
    ]

    /// Records of every state, of two clients, three ages and two keys.
    static let population: [VaultRecord] = {
        var records: [VaultRecord] = []
        for (index, state) in VaultState.allCases.enumerated() {
            for client in ["one", "two"] {
                for (age, checkedAt) in [nil, 50, 100, 150].enumerated() {
                    for key in [1, 2] {
                        let number = (index * 5 % 6) * 100 + age * 10 + key
                        records.append(
                            VaultRecord(
                                .sample(number, of: client), state, key: key, checkedAt: checkedAt))
                    }
                }
            }
        }
        return records
    }()

    static let filters: [VaultFilter] = {
        var filters: [VaultFilter] = []
        for client in [nil, "one", "none"].map({ $0.map { ClientID(unchecked: $0) } }) {
            for states in [[], [.dead], [.dead, .active, .dead], VaultState.allCases] {
                for moment in [nil, NumericDate(100)] {
                    for key in [nil, 2] {
                        filters.append(
                            VaultFilter(
                                clientID: client, states: states, notCheckedSince: moment,
                                notSealedWith: key))
                    }
                }
            }
        }
        return filters
    }()
}
