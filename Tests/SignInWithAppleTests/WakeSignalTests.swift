import SIWALifecycle
import Synchronization
import Testing

@Suite struct WakeSignalTests {
    @Test(.timeLimit(.minutes(1)))
    func `a notification between reading the count and waiting is not lost`() async {
        let wake = WakeSignal()
        let seen = wake.count
        wake.notify()
        await wake.wait(after: seen)
        #expect(wake.count == seen + 1)
    }

    @Test(.timeLimit(.minutes(1))) func `one notification wakes all waiting tasks`() async {
        let wake = WakeSignal()
        async let first: Void = wake.wait(after: 0)
        async let second: Void = wake.wait(after: 0, atMost: .seconds(3600))
        wake.notify()
        _ = await (first, second)
        #expect(wake.count == 1)
    }

    @Test(.timeLimit(.minutes(1))) func `a time limit and a cancellation end a wait`() async {
        let wake = WakeSignal()
        await wake.wait(after: 0, atMost: .milliseconds(1))
        let waiting = Task { await wake.wait(after: 0) }
        let limited = Task { await wake.wait(after: 0, atMost: .seconds(3600)) }
        waiting.cancel()
        limited.cancel()
        _ = await (waiting.value, limited.value)
        #expect(wake.count == 0)
    }

    @Test func `a listener is called until it is removed`() {
        let wake = WakeSignal()
        let counter = Counter()
        let listener = wake.addListener { counter.calls.add(1, ordering: .relaxed) }
        wake.notify()
        wake.notify()
        wake.remove(listener)
        wake.notify()
        #expect(counter.calls.load(ordering: .relaxed) == 2)
    }
}

private final class Counter: Sendable {
    let calls = Atomic<Int>(0)
}
