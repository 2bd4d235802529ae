import Dispatch
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Synchronization
import Testing

extension StoreContract {
    static let contending = [
        StoreContract("concurrent claims return different records") { fixture in
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
        StoreContract("concurrent changes of an unknown user do not undo each other") {
            fixture in
            _ = try fixture.vault()
            let user = VaultUser.sample(1)
            try atOnce(4) { _ in
                let store = try fixture.store()
                for _ in 0..<10 { try store.raise([user]) }
            }
            #expect(try fixture.store().record(of: user)?.number == 40)
        },
        StoreContract("changes of the same users in different orders do not deadlock") { fixture in
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
        StoreContract("many threads can use one store") { fixture in
            let store = try fixture.vault()
            try atOnce(4) { number in
                for round in 0..<10 {
                    try store.put([VaultRecord(.sample(number * 100 + round))])
                    #expect(try store.record(of: .sample(number * 100 + round)) != nil)
                }
            }
            #expect(try store.all().count == 40)
        },
        StoreContract("of several concurrent creations of a vault, one succeeds") { fixture in
            let made = Mutex(0)
            try atOnce(4) { _ in
                do {
                    try fixture.store().create(.first)
                    made.withLock { $0 += 1 }
                } catch let error as StoreError {
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
    fileprivate func raise(_ users: [VaultUser]) throws(StoreError) {
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
