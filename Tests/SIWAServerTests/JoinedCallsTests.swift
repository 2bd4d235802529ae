import SIWALifecycle
import Testing

@testable import SIWAServer

@Suite struct JoinedCallsTests {
    @Test func `a separate call runs after the current one`() async {
        let (calls, gate) = (JoinedCalls<String, Int>(), WakeSignal())
        let begun = WakeSignal()
        async let first = calls.join("a") {
            begun.notify()
            await gate.wait(after: 0)
            return 1
        }
        await begun.wait(after: 0)
        async let next = calls.startNext("a") { 2 }
        for _ in 0..<100 { await Task.yield() }
        gate.notify()
        #expect(await first == 1)
        #expect(await next == 2)
        #expect(await calls.value(of: "a") == nil)
    }
}
