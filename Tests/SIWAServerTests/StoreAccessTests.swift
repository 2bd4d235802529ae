import Foundation
import SIWALifecycle
import SIWAServerRecords
import SIWASystem
import SIWATestSupport
import Testing

@testable import SIWAServer

@Suite struct StoreAccessTests {
    /// The database does not answer the first call.
    @Test func `a call is not delayed by the time limits of earlier calls`() async throws {
        let fixture = try await ServiceFixture(.sqlite)
        let (time, questions) = (Mutable(Duration.zero), Mutable(0))
        let timekeeper = Timekeeper(
            elapsed: {
                questions.value += 1
                return time.value
            }, sleep: { _ in })
        let access = StoreAccess(
            try fixture.store(), on: try WorkerThreads(1), maxWait: .seconds(4),
            timekeeper: timekeeper)
        let isSilent = Mutable(true)
        let first = Task {
            try await access.run { _ in while isSilent.value { usleep(1000) } }
        }
        // When it begins to wait for the thread, and when it has one.
        try await eventually("the first call has the thread") { questions.value == 2 }
        let second = Task {
            try await access.run { store throws(StoreError) in try store.check() }
        }
        try await eventually("the second call waits") { questions.value == 3 }
        time.value = .seconds(4)
        isSilent.value = false
        try await first.value
        let error = await #expect(throws: StoreError.self) { try await second.value }
        #expect(error?.kind == .busy)
        _ = try await access.run { store throws(StoreError) in try store.check() }
    }
}
