import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWAApplication
@testable import SIWACLI
@testable import SIWASystem

/// How long work may go on after a signal, by a clock of the test's.
@Suite struct EndingPlanTests {
    static let limits: [(EndingPlan.Work, Int)] = [
        (.code, 10), (.keys, 0), (.storing, 2), (.revoking, 5), (.change, 5), (.printing, 0),
        (.nothing, 0),
    ]

    @Test(arguments: limits)
    func `the time that a signal leaves depends on the work`(
        _ work: EndingPlan.Work, _ seconds: Int
    ) {
        var plan = EndingPlan()
        plan.begin(work, at: .seconds(100))
        #expect(plan.remaining(at: .seconds(5000)) == nil, "without a signal there is no limit")
        plan.receiveSignal(at: .seconds(200))
        #expect(plan.remaining(at: .seconds(200)) == .seconds(seconds))
        #expect(plan.remaining(at: .seconds(201)) == .seconds(max(seconds - 1, 0)))
        #expect(plan.remaining(at: .seconds(900)) == .zero)
    }

    @Test func `a second signal adds no time`() {
        var plan = EndingPlan()
        plan.begin(.code, at: .zero)
        plan.receiveSignal(at: .seconds(1))
        plan.receiveSignal(at: .seconds(9))
        #expect(plan.remaining(at: .seconds(9)) == .seconds(2))
    }

    @Test func `work that begins after the signal has its own time limit`() {
        var plan = EndingPlan()
        plan.begin(.code, at: .zero)
        plan.receiveSignal(at: .seconds(1))
        plan.begin(.keys, at: .seconds(8))
        #expect(plan.remaining(at: .seconds(8)) == .zero)
        plan.begin(.storing, at: .seconds(8))
        #expect(plan.remaining(at: .seconds(9)) == .seconds(1))
    }

    @Test func `only storing the tokens of a spent code has time after the timeout`() {
        for work in EndingPlan.Work.allCases {
            var plan = EndingPlan()
            plan.begin(work, at: .seconds(100))
            let reserved: Duration = work == .storing ? .seconds(2) : .zero
            #expect(plan.reserved(at: .seconds(100)) == reserved, "\(work)")
            #expect(plan.reserved(at: .seconds(103)) == .zero, "\(work)")
        }
    }

    @Test func `only the watchdog ends a process that has the tokens of a spent code`() {
        for work in EndingPlan.Work.allCases {
            let policy: SignalPolicy =
                switch work {
                case .nothing: .end
                case .change, .noting: .recordFirst
                case .code, .keys, .storing, .revoking, .printing: .record
                }
            #expect(work.policy == policy, "\(work)")
            let limit = work.spentCode == .none ? Int(work.limit.components.seconds) : 12
            #expect(Int(work.watchdog) == limit + 5, "\(work)")
        }
    }

    @Test func `one watchdog covers everything after a code, and leaves time to print`() {
        var plan = EndingPlan()
        plan.begin(.code, at: .seconds(1))
        #expect(plan.watchdog(at: .seconds(1)) == 17)
        plan.receiveSignal(at: .seconds(100))
        for (work, elapsed, watchdog) in [
            (EndingPlan.Work.keys, 9, 8 as UInt32), (.storing, 10, 7), (.printing, 12, 5),
            (.printing, 40, 5),
        ] {
            plan.begin(work, at: .seconds(100 + elapsed))
            #expect(plan.watchdog(at: .seconds(100 + elapsed)) == watchdog, "\(work)")
        }
        plan.begin(.change, at: .seconds(112))
        #expect(plan.watchdog(at: .seconds(112)) == 10, "there is no code to lose")
    }

    @Test(arguments: [
        (EndingPlan.Work.nothing, SpentCode.none), (.change, .none), (.noting, .none),
        (.code, .sent), (.keys, .exchanged), (.revoking, .exchanged), (.storing, .storing),
        (.printing, .exchanged),
    ])
    func `the watchdog knows the state of the code`(_ work: EndingPlan.Work, _ code: SpentCode) {
        #expect(work.spentCode == code)
    }
}

/// Waits that a signal cuts short. Time passes by waiting only.
@Suite struct EndingTests {
    /// Signals and a clock that the test moves.
    private final class FakeProcess: Sendable {
        let arrival = WakeSignal()
        private let state = Mutex(
            (signal: CInt?.none, now: Duration.zero, policies: [SignalPolicy]()))

        var now: Duration { state.withLock { $0.now } }
        var policies: [SignalPolicy] { state.withLock { $0.policies } }

        func terminate() {
            state.withLock { $0.signal = 15 }
            arrival.notify()
        }

        /// Sleeping moves the clock, unless the sleeper is cancelled first.
        var timekeeper: Timekeeper {
            Timekeeper(
                elapsed: { self.now },
                sleep: { duration in
                    try Task.checkCancellation()
                    self.state.withLock { $0.now += duration }
                })
        }

        var ending: Ending {
            Ending(
                World.Signals(
                    received: { self.state.withLock { $0.signal } },
                    apply: { policy, _, _ in self.state.withLock { $0.policies.append(policy) } },
                    setAlarm: { _, _ in }, arrival: arrival), timekeeper)
        }
    }

    /// Ends when its task is cancelled.
    private static func untilCancelled() async {
        while !Task.isCancelled { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(1))) func `a request ends when its time is over`() async {
        let process = FakeProcess()
        let ending = process.ending
        ending.begin(.code)
        process.terminate()
        _ = await ending.bounding { await Self.untilCancelled() }
        #expect(process.now == .seconds(10))
        ending.begin(.keys)
        _ = await ending.bounding { await Self.untilCancelled() }
        #expect(process.now == .seconds(10), "no time for keys")
        #expect(process.policies == [.record, .record])
    }

    @Test(.timeLimit(.minutes(1))) func `without a signal, a request takes its whole time`()
        async
    {
        let process = FakeProcess()
        let ending = process.ending
        ending.begin(.code)
        #expect(await ending.bounding { 7 } == 7)
        #expect(process.now == .zero && ending.remaining == nil)
    }

    @Test(.timeLimit(.minutes(1))) func `a signal ends a pause between attempts`() async {
        let process = FakeProcess()
        let ending = process.ending
        ending.begin(.change)
        await #expect(throws: Never.self) { try await ending.sleep(.seconds(3)) }
        #expect(process.now == .seconds(3))
        process.terminate()
        await #expect(throws: CancellationError.self) { try await ending.sleep(.seconds(3)) }
    }

    @Test(.timeLimit(.minutes(1))) func `a signal ends a request that is in progress`() async {
        let process = FakeProcess()
        let ending = process.ending
        ending.begin(.change)
        async let waiting: Void? = ending.bounding { await Self.untilCancelled() }
        process.terminate()
        _ = await waiting
        #expect(process.now == .seconds(5))
    }
}
