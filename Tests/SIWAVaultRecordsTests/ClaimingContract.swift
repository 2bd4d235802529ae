import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

extension StoreContract {
    static let claiming = [
        StoreContract("a claim changes the claimed records, and returns them as they were") {
            fixture in
            let store = try fixture.vault()
            try store.put(VaultUser.samples(3).map { VaultRecord($0, checkedAt: 5) })
            let claimed = try store.claim(VaultFilter(), limit: 2, for: .long("a")) {
                VaultClaimChange($0.becoming(.revoking))
            }.records
            #expect(claimed.count == 2 && claimed.allSatisfy { $0.state == .active })
            for record in claimed {
                #expect(try store.record(of: record.user) == record.becoming(.revoking))
            }
            #expect(try store.counts(of: nil) == [.revoking: 2, .active: 1])
        },
        StoreContract("a filter selects the claimed records") { fixture in
            let store = try fixture.vault()
            try store.putOfTwoKeys(Samples.population)
            for (number, filter) in Samples.filters.enumerated() {
                let expected = Samples.population.filter { filter.matches($0) }.map(\.user).sorted()
                #expect(try store.claim(.long("\(number)"), filter) == expected, "\(filter)")
                try store.release(expected, by: "\(number)")
            }
        },
        StoreContract("claimed records are not claimed again, neither by others nor by the owner") {
            fixture in
            let (one, other) = (try fixture.vault(), try fixture.store())
            let users = VaultUser.samples(5)
            try one.put(users.map { VaultRecord($0) })
            let mine = try one.claim(.long("a"), limit: 3)
            let others = try other.claim(.long("b"))
            #expect(mine.count == 3 && Set(mine + others) == Set(users) && others.count == 2)
            #expect(try one.claim(.long("a")) == [] && other.claim(.long("c")) == [])
        },
        StoreContract("a released record can be claimed by others, but not again by the same owner")
        {
            fixture in
            let store = try fixture.vault()
            try store.put(VaultUser.samples(2).map { VaultRecord($0) })
            let users = try store.claim(.long("a"))
            try store.change(users, releasedBy: "a") { user, record in
                user == users[0] ? .put(VaultRecord(user, .dead)) : .keep
            }
            #expect(try store.claim(.long("a")) == [])
            #expect(try store.claim(.long("b")) == users)
        },
        StoreContract("a released record is not claimed by runs that began before") { fixture in
            let store = try fixture.vault()
            try store.put(VaultUser.samples(2).map { VaultRecord($0) })
            #expect(try store.claim(.long("a"), limit: 1) == [.sample(0)])
            #expect(try store.claim(.long("b")) == [.sample(1)])
            try await Task.sleep(for: .milliseconds(5))
            fixture.passTime()
            try store.release([.sample(0)], by: "a")
            try store.change([.sample(1)], releasedBy: "b") { user, _ in
                .put(VaultRecord(user, .dead))
            }
            #expect(try store.claim(.long("a")) == [] && store.claim(.long("b")) == [])
            #expect(try store.claim(.long("c")) == [.sample(0), .sample(1)])
        },
        StoreContract("only the owner can release a record") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(1))])
            #expect(try store.claim(.long("a")) == [.sample(1)])
            for owner in ["b", nil] {
                for next in [Decision.keep, .put(VaultRecord(.sample(1), .dead))] {
                    try store.change([.sample(1)], releasedBy: owner) { _, _ in next }
                    #expect(try store.claim(.long("c")) == [])
                }
            }
            try store.release([.sample(1)], by: "a")
            #expect(try store.claim(.long("d")) == [.sample(1)])
        },
        StoreContract("a record that was removed and stored again is free") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(1))])
            #expect(try store.claim(.long("a")) == [.sample(1)])
            try store.change([.sample(1)], releasedBy: nil) { _, _ in .remove }
            try store.put([VaultRecord(.sample(1))])
            #expect(try store.claim(.long("a")) == [.sample(1)])
        },
        StoreContract("after a lease ends, another owner can claim the record") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(1))])
            #expect(try store.claim(.short("dead")) == [.sample(1)])
            try await eventually("the lease ends") {
                #expect(try store.claim(.long("dead")) == [])
                fixture.passTime()
                return try fixture.store().claim(.long("b")) == [.sample(1)]
            }
            try store.release([.sample(1)], by: "dead")
            #expect(try store.claim(.long("c")) == [], "it is b's now")
        },
        StoreContract("a revocation takes over what others only check, and nothing else") {
            fixture in
            let (one, other) = (try fixture.vault(), try fixture.store())
            let records = VaultUser.samples(5).map { VaultRecord($0) }
            try one.put(records)
            let check = Lease.checking("a", duration: .seconds(3600))
            #expect(try one.claim(check, limit: 2) == [.sample(0), .sample(1)])
            #expect(try one.claim(.long("b"), limit: 2) == [.sample(2), .sample(3)])
            #expect(
                try other.claim(.checking("c", duration: .seconds(60)), limit: 1) == [.sample(4)])
            #expect(try other.claim(.checking("d", duration: .seconds(60))) == [])
            let revoking = Lease(owner: "e", duration: .seconds(60), isRevoking: true)
            #expect(try other.claim(revoking) == [.sample(0), .sample(1), .sample(4)])
            #expect(try one.held(records.map(\.id), by: check.owner) == [])
            #expect(try one.renew(records.map(\.id), for: check).held == [])
            // What a revocation holds is its own, also for another one.
            #expect(
                try one.claim(Lease(owner: "f", duration: .seconds(60), isRevoking: true)) == [])
            #expect(try one.leasedByOthers(than: "f", VaultFilter()).count == 5)
        },
        StoreContract("a revocation finds what was checked since it began") { fixture in
            let (one, other) = (try fixture.vault(), try fixture.store())
            try one.put(VaultUser.samples(3).map { VaultRecord($0) })
            let revoking = Lease(owner: "revoke", duration: .seconds(60), isRevoking: true)
            let check = Lease.checking("a", duration: .seconds(60))
            #expect(try other.claim(check, limit: 2) == [.sample(0), .sample(1)])
            #expect(try other.claim(.long("b"), limit: 1) == [.sample(2)])
            #expect(try one.claim(revoking, limit: 1) == [.sample(0)])
            // What is released in the millisecond of a run's start counts as released before.
            try await Task.sleep(for: .milliseconds(5))
            fixture.passTime()
            try other.release([.sample(1)], by: check.owner)
            try other.release([.sample(2)], by: "b")
            #expect(try one.claim(revoking) == [.sample(1)], "b's is for later runs")
            try one.release([.sample(0), .sample(1)], by: "revoke")
            #expect(try one.claim(revoking) == [], "it has had its turn")
            #expect(try other.claim(check) == [], "it has had its turn, too")
        },
        StoreContract("an owner holds its leases until another run takes them") { fixture in
            let store = try fixture.vault()
            let records = VaultUser.samples(3).map { VaultRecord($0) }
            try store.put(records)
            let ids = records.map(\.id)
            // Longer than a busy machine takes for what follows.
            let lease = Lease(owner: "a", duration: .seconds(5))
            #expect(try store.claim(lease, limit: 2) == [.sample(0), .sample(1)])
            #expect(try store.held(ids, by: "a") == Set(ids.prefix(2)))
            #expect(try store.held(ids, by: "b") == [] && store.held([], by: "a") == [])
            try store.release([.sample(0)], by: "a")
            #expect(try store.held(ids, by: "a") == [ids[1]])
            try await eventually("the lease ends") {
                fixture.passTime()
                return try fixture.store().claim(.long("b"), limit: 9).contains(.sample(1))
            }
            #expect(try store.held(ids, by: "a") == [])
            #expect(try store.held(ids, by: "b").contains(ids[1]))
        },
        StoreContract("records stored since the last claim can be claimed") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(5))])
            #expect(try store.claim(.long("a")) == [.sample(5)])
            try store.put([VaultRecord(.sample(1)), VaultRecord(.sample(9), .dead)])
            #expect(try store.claim(.long("a")) == [.sample(1), .sample(9)])
        },
        StoreContract("a lease can have any length") { fixture in
            let store = try fixture.vault()
            try store.put([VaultRecord(.sample(1)), VaultRecord(.sample(2))])
            let endless = Lease(owner: "a", duration: .seconds(Int64.max))
            #expect(try store.claim(endless, limit: 1).count == 1)
            #expect(try store.claim(.long("b")).count == 1)
            #expect(
                try store.leasedByOthers(than: "c", VaultFilter()).remaining <= .seconds(3601),
                "but none is longer than an hour")
        },
    ]
}
