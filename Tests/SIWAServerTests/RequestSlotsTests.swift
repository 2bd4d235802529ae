import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAServer

@Suite struct RequestSlotsTests {
    @Test
    func `a released slot is given to the next waiting caller`() async throws {
        let slots = RequestSlots(most: 2, mostWaiting: 1, maxWait: .seconds(600))
        #expect(await slots.acquire())
        #expect(await slots.acquire())
        let third = Task { await slots.acquire() }
        // Of two more callers, one waits and the other is refused.
        let fourth = Task { await slots.acquire() }
        let first = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await third.value }
            group.addTask { await fourth.value }
            let refused = await group.next()
            slots.release()
            let served = await group.next()
            return (refused, served)
        }
        #expect(first == (false, true))
        slots.release()
        slots.release()
        #expect(await slots.acquire())
    }

    @Test
    func `a caller waits for a limited time`() async {
        let slots = RequestSlots(most: 1, mostWaiting: 9, maxWait: .milliseconds(1))
        #expect(await slots.acquire())
        #expect(await slots.acquire() == false)
        slots.release()
        #expect(await slots.acquire())
    }
}
