import Glibc
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// Events that arrive at the same time, committed together.
@Suite(.blocking) struct GroupCommitTests {
    @Test(arguments: SQLBackend.available)
    func `events that arrive together share transactions`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let asked = Mutex(0)
        let group = GroupCommit(
            store,
            decide: { _, _ in
                asked.withLock { $0 += 1 }
                return VaultChanges()
            }, run: { body in try? startThread(body) })
        let outcomes = try await withThrowingTaskGroup(of: GroupCommit.Outcome.self) { tasks in
            for number in 0..<400 {
                let event = try IncomingEvent.sample(number / 2, of: number / 2)
                tasks.addTask { try await group.storeAtOnce(event).outcome }
            }
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .stored } == 200)
        #expect(outcomes.count { $0 == .known } == 200)
        #expect(try store.counts().present == [.pending: 200])
        #expect(asked.withLock { (1..<400).contains($0) })
    }

    @Test func `events that arrive during a commit share the next one`() async throws {
        let fixture = try SQLiteStoreFixture()
        let store = try fixture.preparedServerStore()
        let sizes = Mutex<[Int]>([])
        let hasBegun = Atomic(false)
        let isFilled = Atomic(false)
        let group = GroupCommit(
            store,
            decide: { events, _ in
                hasBegun.store(true, ordering: .releasing)
                while !isFilled.load(ordering: .acquiring) { usleep(1000) }
                sizes.withLock { $0.append(events.count) }
                return VaultChanges()
            }, run: { body in try? startThread(body) })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<64 {
                let event = try IncomingEvent.sample(number, of: number)
                tasks.addTask { _ = try await group.storeAtOnce(event) }
                try await eventually("it waits, or the first one is committed") {
                    hasBegun.load(ordering: .acquiring) && group.waitingCount == number
                }
            }
            isFilled.store(true, ordering: .releasing)
            try await tasks.waitForAll()
        }
        #expect(sizes.withLock { $0 } == [1, 63])
    }

    @Test func `the events of a turn share a transaction, which begins at its end`() async throws {
        let fixture = try SQLiteStoreFixture()
        let store = try fixture.preparedServerStore()
        let sizes = Mutex<[Int]>([])
        let group = GroupCommit(
            store,
            decide: { events, _ in
                sizes.withLock { $0.append(events.count) }
                return VaultChanges()
            }, run: { body in try? startThread(body) })
        try await withThrowingTaskGroup(of: GroupCommit.Outcome.self) { tasks in
            for number in 0..<3 {
                let event = try IncomingEvent.sample(number, of: number)
                tasks.addTask { try await group.store(event).outcome }
            }
            try await eventually("they wait") { group.waitingCount == 3 }
            #expect(sizes.withLock { $0 } == [])
            group.endTurn()
            for try await outcome in tasks { #expect(outcome == .stored) }
            #expect(sizes.withLock { $0 } == [3])
            // Without waiting events, a turn ends without a transaction.
            group.endTurn()
            let next = try IncomingEvent.sample(3, of: 3)
            tasks.addTask { try await group.storeAtOnce(next).outcome }
            try await tasks.waitForAll()
        }
        #expect(sizes.withLock { $0 } == [3, 1])
    }

    /// The clock says that each commit takes an hour.
    @Test func `after a commit of several events, the next one waits for half as many`()
        async throws
    {
        let fixture = try SQLiteStoreFixture()
        let store = try fixture.preparedServerStore()
        let sizes = Mutex<[Int]>([])
        let time = Mutex(Duration.zero)
        let group = GroupCommit(
            store,
            decide: { events, _ in
                sizes.withLock { $0.append(events.count) }
                return VaultChanges()
            }, longestGathering: .seconds(3600),
            timekeeper: Timekeeper(
                elapsed: {
                    time.withLock { time in
                        time += .seconds(3600)
                        return time
                    }
                }, sleep: { _ in }),
            run: { body in try? startThread(body) })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            func receive(_ numbers: Range<Int>, waiting: Int) async throws {
                for number in numbers {
                    let event = try IncomingEvent.sample(number, of: number)
                    tasks.addTask { _ = try await group.store(event) }
                }
                try await eventually("they wait") { group.waitingCount == waiting }
                group.endTurn()
            }
            try await receive(0..<4, waiting: 4)
            for _ in 0..<4 { try await tasks.next() }
            try await receive(4..<5, waiting: 1)
            usleep(20_000)
            #expect(sizes.withLock { $0 } == [4])
            try await receive(5..<6, waiting: 2)
            try await tasks.waitForAll()
        }
        #expect(sizes.withLock { $0 } == [4, 2])
    }

    /// The database answers the first commit after four seconds.
    @Test func `an event waits at most for the time limit of one commit`() async throws {
        let fixture = try SQLiteStoreFixture()
        let store = try fixture.preparedServerStore()
        let time = Mutex(Duration.zero)
        let hasBegun = Atomic(false)
        let isSilent = Atomic(true)
        let group = GroupCommit(
            store,
            decide: { _, _ in
                hasBegun.store(true, ordering: .releasing)
                while isSilent.load(ordering: .acquiring) { usleep(1000) }
                return VaultChanges()
            }, maxWait: .seconds(4),
            timekeeper: Timekeeper(elapsed: { time.withLock { $0 } }, sleep: { _ in }),
            run: { body in try? startThread(body) })
        let results = try await withThrowingTaskGroup(of: (Int, StoreError.Kind?).self) { tasks in
            func receive(_ number: Int) throws {
                let event = try IncomingEvent.sample(number, of: number)
                tasks.addTask {
                    do {
                        _ = try await group.storeAtOnce(event)
                        return (number, nil)
                    } catch { return (number, (error as? StoreError)?.kind) }
                }
            }
            try receive(1)
            try await eventually("it is committed") { hasBegun.load(ordering: .acquiring) }
            try receive(2)
            try await eventually("it waits") { group.waitingCount == 1 }
            time.withLock { $0 = .seconds(1) }
            try receive(3)
            try await eventually("it waits") { group.waitingCount == 2 }
            time.withLock { $0 = .seconds(4) }
            isSilent.store(false, ordering: .releasing)
            return try await tasks.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
        }
        #expect(results == [1: nil, 2: .busy, 3: nil])
        #expect(try store.states().keys.sorted() == ["event-1", "event-3"])
    }

    /// A thread is woken once for a group.
    @Test func `the results of a group are handed over together`() async throws {
        let fixture = try SQLiteStoreFixture()
        let store = try fixture.preparedServerStore()
        let group = GroupCommit(
            store, decide: { _, _ in VaultChanges() },
            run: { body in try? startThread(body) })
        let handed = Mutex(0)
        let isThere = Mutex(false)
        let done = Mutex<[GroupCommit.Outcome]>([])
        for number in 0..<8 {
            group.receive(
                try IncomingEvent.sample(number / 2, of: number),
                on: { body in
                    // As an event loop does: at once, if this is its thread.
                    if isThere.withLock({ $0 }) { return body() }
                    handed.withLock { $0 += 1 }
                    isThere.withLock { $0 = true }
                    body()
                    isThere.withLock { $0 = false }
                },
                { result in
                    if case .success(let receipt) = result {
                        done.withLock { $0.append(receipt.outcome) }
                    }
                })
        }
        group.endTurn()
        try await eventually("all are stored") { done.withLock { $0.count } == 8 }
        #expect(done.withLock { $0 } == (0..<4).flatMap { _ in [.stored, .known] })
        #expect(handed.withLock { $0 } == 1)
    }

    @Test func `an event that cannot be stored fails alone`() async throws {
        let fixture = try SQLiteStoreFixture()
        let store = try fixture.preparedServerStore()
        let poison = try EventID.sample(5)
        let group = GroupCommit(
            store,
            decide: { events, _ throws(StoreError) in
                if events.contains(where: { $0.event.id == poison }) {
                    throw StoreError(.sealBroken, "poison")
                }
                return VaultChanges()
            }, run: { body in try? startThread(body) })
        let failed = try await withThrowingTaskGroup(of: Int?.self) { tasks in
            for number in 0..<20 {
                let event = try IncomingEvent.sample(number, of: number)
                tasks.addTask {
                    do {
                        _ = try await group.storeAtOnce(event)
                        return nil
                    } catch { return number }
                }
            }
            return try await tasks.reduce(into: []) { $0.append($1) }.compactMap(\.self)
        }
        #expect(failed == [5])
        #expect(try store.states().count == 19)
    }
}

extension GroupCommit {
    fileprivate func store(_ event: IncomingEvent) async throws -> Receipt {
        try await withCheckedContinuation { continuation in
            receive(event, on: { $0() }) { continuation.resume(returning: $0) }
        }.get()
    }

    fileprivate func storeAtOnce(_ event: IncomingEvent) async throws -> Receipt {
        try await withCheckedContinuation { continuation in
            receive(event, on: { $0() }) { continuation.resume(returning: $0) }
            endTurn()
        }.get()
    }
}
