import SIWATestSupport
import Testing

@testable import SIWAEmulator

/// What users of siwa-emulator rely on over HTTP, compared with docs/contract/siwa-emulator.
@Suite struct ContractTests {
    @Test func `the routes are as recorded`() throws {
        let apple = EmulatorRoute.allCases.map { "\($0.method) \($0.rawValue)" }
        let controls = Control.allCases.flatMap { control in
            control.methods.map { "\($0) \(Control.root)\(control.rawValue)" }
        }
        try checkContract(Set(apple + controls), "siwa-emulator/routes.txt")
    }
}
