internal import SIWAApplication
internal import SIWAJOSE
import SIWALifecycle
internal import Synchronization

/// Apple's clock, measured by every answer of Apple, for a process whose own clock may be wrong.
final class AppleClock: Sendable {
    private struct State {
        var skew: ClockSkew?
        /// Why the last request had no answer; nil if it had one.
        var failure: TransportError?
        /// When Apple was last asked for the time alone.
        var askedAt: Duration?
        /// Whether the log says that this machine's clock is wrong.
        var isReported = false
        var arrival: WakeSignal?
    }

    private let state = Mutex(State())
    private let clocks: Clocks
    private let log: ServiceLog
    private let questions = JoinedCalls<Int, Void>()

    /// Apple's clock is unknown at first.
    init(_ clocks: Clocks, log: @escaping ServiceLog) {
        (self.clocks, self.log) = (clocks, log)
    }

    /// Whether Apple's time is known.
    var isKnown: Bool { fresh != nil }

    /// Apple's time minus this machine's: positive if this machine's clock is slow. Nil if it was
    /// not measured within the last hour.
    var skew: Duration? {
        fresh.map { $0.time(at: clocks.timekeeper.elapsed()) - clocks.now() }
    }

    /// The moments that are now.
    var times: TokenTimes {
        TokenTimes(clocks.now(), apple: fresh?.time(at: clocks.timekeeper.elapsed()))
    }

    /// Apple's time at a moment of the monotonic clock; nil if it is not known now.
    func time(at elapsed: Duration) -> NumericDate? { fresh?.time(at: elapsed) }

    private var fresh: ClockSkew? {
        let elapsed = clocks.timekeeper.elapsed()
        return state.withLock { $0.skew }.flatMap { $0.isFresh(at: elapsed) ? $0 : nil }
    }

    /// Notifies `signal` when Apple's time becomes known.
    func notify(_ signal: WakeSignal) { state.withLock { $0.arrival = signal } }

    /// Verifies a token by the current times. If only its times fail and Apple's time is unknown,
    /// Apple is asked for it first.
    ///
    /// - Parameter client: asks Apple, which is seldom needed.
    func judge<Claims>(
        askingAs client: @autoclosure () -> ProfileClient?,
        _ verify: (NumericDate) -> Verification<Claims>
    ) async -> Verification<Claims> {
        if let verification = judgeAtOnce(verify) { return verification }
        await ask(as: client())
        return times.judge(verify).verification
    }

    /// Verifies a token by the current times; nil if Apple has to be asked for its time first.
    func judgeAtOnce<Claims>(
        _ verify: (NumericDate) -> Verification<Claims>
    ) -> Verification<Claims>? {
        let verification = times.judge(verify).verification
        // The clock is only read for a token whose times fail.
        guard verification.failsOnTime, !isKnown, verification.mayPassAtAnotherTime(verify) else {
            return verification
        }
        return nil
    }

    /// Measures with one request, unless one was sent within the last minute. All callers share it.
    ///
    /// - Parameter send: sends it; by default, Apple is asked for its keys.
    func ask(
        as client: ProfileClient?,
        by send: @escaping @Sendable (ProfileClient) async -> Void = { await $0.askForKeys() }
    ) async {
        guard let client else { return }
        await questions.join(0) { [self] in
            let elapsed = clocks.timekeeper.elapsed()
            let isDue = state.withLock { state in
                guard state.askedAt.map({ elapsed - $0 >= Self.pause }) ?? true else {
                    return false
                }
                state.askedAt = elapsed
                return true
            }
            guard isDue else { return }
            // Whatever Apple answers shows its time; the meter of the transport reads it.
            await send(client)
        }
    }

    /// The shortest time between two requests for the time alone.
    private static let pause = Duration.seconds(60)

    /// Measures with the answers to all requests that `base` sends to Apple.
    func measuring(_ base: any Transport) -> any Transport {
        ClockMeter(base: base, clock: self, elapsed: clocks.timekeeper.elapsed)
    }

    /// Notes why there was no answer.
    func note(_ failure: TransportError) { state.withLock { $0.failure = failure } }

    /// Measures with an answer of Apple.
    func note(_ response: HTTPResponse, sentAt: Duration, answeredAt: Duration) {
        state.withLock { $0.failure = nil }
        guard let skew = ClockSkew(response, sentAt: sentAt, answeredAt: answeredAt) else { return }
        let difference = skew.time(at: answeredAt) - clocks.now()
        let (arrival, isChanged) = state.withLock { state in
            let wasFresh = state.skew?.isFresh(at: answeredAt) ?? false
            let isChanged = state.isReported != difference.isWrongClock
            (state.skew, state.isReported) = (skew, difference.isWrongClock)
            return (wasFresh ? nil : state.arrival, isChanged)
        }
        arrival?.notify()
        guard isChanged else { return }
        log(
            difference.isWrongClock
                ? ServiceEvent(
                    .warning, "clock_wrong",
                    [
                        .init("message", .string("this clock is \(difference.clockDifference)")),
                        .init("skew_seconds", .integer(Int(difference.components.seconds))),
                    ]) : ServiceEvent(.info, "clock_right", []))
    }
}

extension ProfileClient {
    /// Asks Apple for something that it always answers.
    fileprivate func askForKeys() async {
        _ = try? await Probe(
            baseURL: baseURL, delivery: delivery(maxAttempts: 1, limit: ClockSkew.maxRoundTrip)
        ).keys()
    }
}

/// Shows Apple's answers to the clock.
private struct ClockMeter: Transport {
    let base: any Transport
    let clock: AppleClock
    let elapsed: @Sendable () -> Duration

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let start = elapsed()
        do throws(TransportError) {
            let response = try await base.send(request, timeout: timeout)
            clock.note(response, sentAt: start, answeredAt: elapsed())
            return response
        } catch {
            clock.note(error)
            throw error
        }
    }
}

extension AppleClock {
    /// The skew in words, for the operator.
    var words: String {
        guard let skew else {
            let failure = state.withLock { $0.failure }
            return "not compared: Apple did not answer\(failure.map { ": \($0)" } ?? "")"
        }
        return skew.components.seconds == 0 ? "in sync with Apple" : skew.clockDifference
    }

    /// What is wrong with this machine's clock; nil if it is right or cannot be compared.
    var warning: String? {
        guard let skew, skew.isWrongClock else { return nil }
        return "this machine's clock is \(skew.clockDifference): set it, or keep it right: "
            + clockSynchronization
    }
}
