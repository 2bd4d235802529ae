import Lifecycle
import Testing

@Suite struct PaceTests {
    @Test func `no more start than the window lets`() {
        var pace = Pace(concurrency: 2)
        #expect(pace.start(inFlight: 0, at: .zero) == .now)
        #expect(pace.start(inFlight: 1, at: .zero) == .now)
        #expect(pace.start(inFlight: 2, at: .zero) == .whenOneEnds)
    }

    @Test func `a rate spaces the starts, and a late one saves nothing up`() {
        var pace = Pace(concurrency: 100, rate: 10)
        #expect(pace.start(inFlight: 0, at: .zero) == .now)
        #expect(pace.start(inFlight: 1, at: .milliseconds(1)) == .later(.milliseconds(100)))
        #expect(pace.start(inFlight: 1, at: .milliseconds(950)) == .now)
        #expect(pace.start(inFlight: 1, at: .milliseconds(951)) == .later(.milliseconds(1050)))
    }

    @Test func `trouble halves the window once for all that were in flight`() {
        var pace = Pace(concurrency: 64)
        let mark = pace.mark
        for _ in 0..<64 {
            pace.slowDown(since: mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        }
        #expect(pace.allowance == 32)
        pace.slowDown(since: pace.mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        #expect(pace.allowance == 16)
    }

    @Test func `the window never closes, and grows back one by one`() {
        var pace = Pace(concurrency: 8)
        for _ in 0..<20 {
            pace.slowDown(since: pace.mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        }
        #expect(pace.allowance == 1)
        pace.speedUp()
        #expect(pace.allowance == 2)
        for _ in 0..<1000 { pace.speedUp() }
        #expect(pace.allowance == 8)
    }

    @Test func `a Retry-After stops everybody until then`() {
        var pace = Pace(concurrency: 8)
        pace.slowDown(
            since: pace.mark, .overload, retryAfter: .seconds(5), jitter: 0.5, at: .seconds(100))
        #expect(pace.start(inFlight: 0, at: .seconds(104)) == .later(.seconds(105)))
        #expect(pace.start(inFlight: 0, at: .seconds(105)) == .now)
    }

    @Test func `a later Retry-After of the same era still counts`() {
        var pace = Pace(concurrency: 8)
        let mark = pace.mark
        pace.slowDown(since: mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        pace.slowDown(since: mark, .overload, retryAfter: .seconds(7), jitter: 0, at: .zero)
        #expect(pace.start(inFlight: 0, at: .seconds(1)) == .later(.seconds(7)))
        #expect(pace.allowance == 4)
    }

    @Test func `a mishap leaves the window as it is`() {
        var pace = Pace(concurrency: 8)
        pace.slowDown(since: pace.mark, .mishap, retryAfter: nil, jitter: 0, at: .zero)
        #expect(pace.allowance == 8)
    }

    @Test func `trouble on trouble pauses all, longer each time, until something works`() {
        var pace = Pace(concurrency: 8)
        func pause() -> Duration {
            pace.slowDown(since: pace.mark, .mishap, retryAfter: nil, jitter: 1, at: .zero)
            var probe = pace
            guard case .later(let moment) = probe.start(inFlight: 0, at: .zero) else {
                return .zero
            }
            return moment
        }
        #expect(
            [pause(), pause(), pause(), pause()] == [
                .zero, .zero, .milliseconds(200), .milliseconds(400),
            ])
        for _ in 0..<20 { _ = pause() }
        #expect(pause() == .seconds(15))
        pace.speedUp()
        #expect(pace.start(inFlight: 0, at: .seconds(15)) == .now)
        pace.slowDown(since: pace.mark, .mishap, retryAfter: nil, jitter: 1, at: .seconds(15))
        #expect(pace.start(inFlight: 0, at: .seconds(15)) == .now)
    }
}
