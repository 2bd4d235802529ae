import Lifecycle
import TestSupport
import Testing

@testable import SIWAServer

@Suite struct TurnsTests {
    @Test
    func `so many are taken at a time, and the next one gets what is given back`() async throws {
        let turns = Turns(most: 2, mostWaiting: 1, patience: .seconds(600))
        #expect(await turns.take())
        #expect(await turns.take())
        let third = Task { await turns.take() }
        // Of two more, one waits and the other one is sent away.
        let fourth = Task { await turns.take() }
        let first = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await third.value }
            group.addTask { await fourth.value }
            let refused = await group.next()
            turns.giveBack()
            let served = await group.next()
            return (refused, served)
        }
        #expect(first == (false, true))
        turns.giveBack()
        turns.giveBack()
        #expect(await turns.take())
    }

    @Test
    func `nobody waits for ever`() async {
        let turns = Turns(most: 1, mostWaiting: 9, patience: .milliseconds(1))
        #expect(await turns.take())
        #expect(await turns.take() == false)
        turns.giveBack()
        #expect(await turns.take())
    }
}
