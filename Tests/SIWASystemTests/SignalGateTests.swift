import Testing

@testable import SIWASystem

@Suite struct SignalGateTests {
    @Test func `a signal ends the process immediately while nothing is written`() {
        let gate = SignalGate()
        #expect(gate.admits(2))
        #expect(gate.admits(15))
    }

    @Test func `a signal waits for the file that is being written`() {
        let gate = SignalGate()
        gate.close()
        #expect(!gate.admits(15))
        #expect(gate.open() == 15)
    }

    @Test func `a signal waits for the last of several files`() {
        let gate = SignalGate()
        gate.close()
        gate.close()
        #expect(!gate.admits(2))
        #expect(gate.open() == nil)
        #expect(!gate.admits(2))
        #expect(gate.open() == 2)
    }

    @Test func `without a signal, the gate stays open after writing`() {
        let gate = SignalGate()
        gate.close()
        #expect(gate.open() == nil)
        #expect(gate.admits(2))
    }
}
