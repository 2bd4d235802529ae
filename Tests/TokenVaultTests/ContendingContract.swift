import Dispatch
import Lifecycle
import Synchronization
import TestSupport
import Testing

extension StoreContract {
    static let contending = [
        StoreContract("of those who claim at once, each gets what no other gets") { fixture in
            let users = VaultUser.samples(200)
            try fixture.vault().put(users.map { VaultRecord($0) })
            let claimed = Mutex<[VaultUser]>([])
            try atOnce(4) { number in
                let store = try fixture.store()
                let filter = VaultFilter(states: [.active])
                while true {
                    let mine = try store.claim(filter, limit: 7, for: .long("\(number)")) {
                        VaultClaimChange($0.becoming(.revoking))
                    }.records.map(\.user)
                    if mine.isEmpty { return }
                    claimed.withLock { $0 += mine }
                    try store.change(mine, releasedBy: "\(number)") { _, record in
                        record.map { .put($0.becoming(.revoked)) } ?? .keep
                    }
                }
            }
            #expect(claimed.withLock { $0.sorted() } == users)
            #expect(try fixture.store().counts(of: nil) == [.revoked: 200])
        },
        StoreContract("of those who change one user that is not there yet, none undoes another") {
            fixture in
            _ = try fixture.vault()
            let user = VaultUser.sample(1)
            try atOnce(4) { _ in
                let store = try fixture.store()
                for _ in 0..<10 { try store.raise([user]) }
            }
            #expect(try fixture.store().record(of: user)?.number == 40)
        },
        StoreContract("changes of the same users in other orders do not wait for ever") { fixture in
            _ = try fixture.vault()
            let users = VaultUser.samples(10)
            try atOnce(4) { number in
                let store = try fixture.store()
                for round in 0..<10 {
                    let order = (number + round).isMultiple(of: 2) ? users : users.reversed()
                    try store.raise(order)
                }
            }
            #expect(try fixture.store().all().map(\.number) == Array(repeating: 40, count: 10))
        },
        StoreContract("one store serves many threads") { fixture in
            let store = try fixture.vault()
            try atOnce(4) { number in
                for round in 0..<10 {
                    try store.put([VaultRecord(.sample(number * 100 + round))])
                    #expect(try store.record(of: .sample(number * 100 + round)) != nil)
                }
            }
            #expect(try store.all().count == 40)
        },
        StoreContract("of those who make a vault at once, one does") { fixture in
            let made = Mutex(0)
            try atOnce(4) { _ in
                do {
                    try fixture.store().create(.first)
                    made.withLock { $0 += 1 }
                } catch let error as VaultError {
                    #expect([.alreadyInitialized, .busy].contains(error.kind), "\(error)")
                }
            }
            #expect(made.withLock(\.self) == 1)
            #expect(try fixture.store().keyChecks() == [.first])
        },
    ]
}

extension VaultStore {
    /// Makes users' records, or raises their numbers by one.
    fileprivate func raise(_ users: [VaultUser]) throws(VaultError) {
        try change(users, releasedBy: nil) { user, record in
            .put(VaultRecord(user, number: (record?.number ?? 0) + 1))
        }
    }
}

/// Runs `body` on several threads at once, each of them its own: a thread that waits for another
/// must not keep it from starting.
func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let ends = DispatchSemaphore(value: 0)
    for number in 0..<count {
        try startThread {
            do { try body(number) } catch { failure.withLock { $0 = error } }
            ends.signal()
        }
    }
    for _ in 0..<count { ends.wait() }
    if let error = failure.withLock(\.self) { throw error }
}
