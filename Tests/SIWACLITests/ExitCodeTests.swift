import SIWACommandTable
import Testing

@testable import SIWAApplication

/// The exit code of a command to which several apply.
@Suite struct ExitCodeTests {
    static let signals: [ExitCode] = [
        .hungUp, .interrupted, .quit, .userSignal1, .userSignal2, .terminated,
        .processorTimeExceeded,
    ]

    /// The first that applies wins.
    static let order: [[ExitCode]] = [
        [.outcomeUnknown], [.defect], signals, [.notDelivered], [.tooManyRefused], [.deployFailed],
        [.usage], [.settings], [.clientRefused], [.grantRefused], [.requestRefused], [.temporary],
        [.no], [.done],
    ]

    @Test func `the order of exit codes is 7, 70, signals, 74, 9, 8, 2, 3 to 6, 75, 1, 0`() {
        #expect(Self.order.joined().sorted { $0.rawValue < $1.rawValue } == ExitCode.allCases)
        for (index, codes) in Self.order.enumerated() {
            let later = Self.order[(index + 1)...].joined()
            for code in codes {
                #expect(ExitCode.prevailing(among: [code] + later) == code)
                #expect(ExitCode.prevailing(among: later.reversed() + [code]) == code)
            }
        }
    }

    @Test func `a command without a failure exits with 0`() {
        #expect(ExitCode.prevailing(among: []) == .done)
    }

    @Test func `the exit code after a signal is 128 and its number`() {
        for code in Self.signals {
            #expect(ExitCode(signal: code.rawValue - 128) == code)
            #expect(code.meaning.hasPrefix("Ended by SIG"))
        }
    }

    @Test func `every exit code has a meaning of its own, and advice unless a signal caused it`() {
        let entries = ExitCode.entries
        #expect(entries.map(\.term) == ExitCode.allCases.map { String($0.rawValue) })
        #expect(Set(entries.map(\.meaning)).count == entries.count)
        for code in ExitCode.allCases {
            #expect(code.advice.isEmpty == Self.signals.contains(code), "\(code)")
        }
    }
}
