import SIWALifecycle
import SIWAServerRecords
import SIWATestSupport
import Testing

@testable import SIWAServer

/// Waiting for the next event.
@Suite struct EventWatchTests {
    private let looks = Mutable(0)
    private let newest = Mutable(EventCursor(position: 1, mark: 1, round: 0))
    private let second = WakeSignal()

    private var watch: EventWatch {
        let (looks, newest, second) = (looks, newest, second)
        let timekeeper = Timekeeper(elapsed: { .zero }) { _ in
            await second.wait(after: second.count)
        }
        return EventWatch(timekeeper) {
            looks.value += 1
            return newest.value
        }
    }

    @Test func `any number of waiting callers causes one query a second`() async throws {
        let watch = watch
        let reads = Mutable(0)
        let callers = (0..<50).map { _ in
            Task {
                var isNew = false
                while !isNew {
                    let seen = watch.count
                    reads.value += 1
                    isNew = newest.value.position > 1
                    if !isNew { _ = await watch.waitForNews(after: seen, atMost: .seconds(600)) }
                }
            }
        }
        var seconds = 0
        try await eventually("it is asked every second") {
            second.notify()
            seconds += 1
            return looks.value > 5
        }
        #expect(looks.value <= seconds + 1)
        // Once each, and once more after the first look, which may be at a newer event.
        #expect(reads.value <= 100)
        newest.value = EventCursor(position: 2, mark: 2, round: 0)
        try await eventually("it is asked again") {
            second.notify()
            return callers.allSatisfy { _ in looks.value > 6 }
        }
        for caller in callers { await caller.value }
    }

    @Test func `a wait ends at its timeout and at the shutdown`() async throws {
        let watch = watch
        let first = await watch.waitForNews(after: watch.count, atMost: .seconds(60))
        // The first look always finds a change.
        #expect(first)
        #expect(await !watch.waitForNews(after: watch.count, atMost: .milliseconds(1)))
        let waiting = (0..<5).map { _ in
            Task { await watch.waitForNews(after: watch.count, atMost: .seconds(600)) }
        }
        watch.stop()
        for caller in waiting { #expect(await !caller.value) }
        #expect(await !watch.waitForNews(after: watch.count, atMost: .seconds(600)))
    }
}
