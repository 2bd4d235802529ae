import SIWACommandTable
import SIWATestSupport
import Testing

@testable import siwa_emulator

/// What users of siwa-emulator rely on on its command line, compared with
/// docs/contract/siwa-emulator.
@Suite struct ContractTests {
    @Test func `the table of commands has no faults`() { #expect(emulatorTool.faults() == []) }

    @Test func `commands, flags and exit codes are as recorded`() throws {
        try checkContract(emulatorTool.contract(), "siwa-emulator/commands.txt")
    }
}
