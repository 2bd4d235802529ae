import CommandTable
import Testing

@testable import SIWACLI

/// Which exit code a command has to which several apply.
@Suite struct ExitCodeTests {
    @Test func `the order is 74, 9, 3 to 6, 75, 1, 0`() {
        let order: [ExitCode] = [
            .notDelivered, .tooManyRefused, .settings, .clientRefused, .grantRefused,
            .requestRefused, .temporary,
            .no, .done,
        ]
        for (index, code) in order.enumerated() {
            #expect(ExitCode.prevailing(among: order[index...].reversed()) == code)
        }
    }

    @Test func `a command to which none applies is done`() {
        #expect(ExitCode.prevailing(among: []) == .done)
    }

    @Test func `every code is in help, with what it means`() {
        #expect(
            ExitCode.entries.map(\.term)
                == [
                    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "70", "74", "75", "129",
                    "130", "131", "138", "140", "143", "152",
                ])
        #expect(Set(ExitCode.entries.map(\.meaning)).count == ExitCode.entries.count)
    }
}
