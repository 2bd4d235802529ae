import SIWALifecycle
import Testing

@Suite struct RateLimiterTests {
    @Test func `no more requests start than the window allows`() {
        var limiter = RateLimiter(concurrency: 2)
        #expect(limiter.start(inFlight: 0, at: .zero) == .now)
        #expect(limiter.start(inFlight: 1, at: .zero) == .now)
        #expect(limiter.start(inFlight: 2, at: .zero) == .whenOneEnds)
    }

    @Test func `a rate spaces the starts, and a late start saves nothing for later`() {
        var limiter = RateLimiter(concurrency: 100, rate: 10)
        #expect(limiter.start(inFlight: 0, at: .zero) == .now)
        #expect(limiter.start(inFlight: 1, at: .milliseconds(1)) == .later(.milliseconds(100)))
        #expect(limiter.start(inFlight: 1, at: .milliseconds(950)) == .now)
        #expect(limiter.start(inFlight: 1, at: .milliseconds(951)) == .later(.milliseconds(1050)))
    }

    @Test func `overload halves the window once for all requests in progress`() {
        var limiter = RateLimiter(concurrency: 64)
        let mark = limiter.mark
        for _ in 0..<64 {
            limiter.slowDown(since: mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        }
        #expect(limiter.allowance == 32)
        limiter.slowDown(since: limiter.mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        #expect(limiter.allowance == 16)
    }

    @Test func `the window never closes, and grows back one by one`() {
        var limiter = RateLimiter(concurrency: 8)
        for _ in 0..<20 {
            limiter.slowDown(since: limiter.mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        }
        #expect(limiter.allowance == 1)
        limiter.speedUp()
        #expect(limiter.allowance == 2)
        for _ in 0..<1000 { limiter.speedUp() }
        #expect(limiter.allowance == 8)
    }

    @Test func `a Retry-After pauses the whole run`() {
        var limiter = RateLimiter(concurrency: 8)
        limiter.slowDown(
            since: limiter.mark, .overload, retryAfter: .seconds(5), jitter: 0.5, at: .seconds(100))
        #expect(limiter.start(inFlight: 0, at: .seconds(104)) == .later(.seconds(105)))
        #expect(limiter.start(inFlight: 0, at: .seconds(105)) == .now)
    }

    @Test func `a later Retry-After after the same slow-down still counts`() {
        var limiter = RateLimiter(concurrency: 8)
        let mark = limiter.mark
        limiter.slowDown(since: mark, .overload, retryAfter: nil, jitter: 0, at: .zero)
        limiter.slowDown(since: mark, .overload, retryAfter: .seconds(7), jitter: 0, at: .zero)
        #expect(limiter.start(inFlight: 0, at: .seconds(1)) == .later(.seconds(7)))
        #expect(limiter.allowance == 4)
    }

    @Test func `a failure without a response does not change the window`() {
        var limiter = RateLimiter(concurrency: 8)
        limiter.slowDown(since: limiter.mark, .noResponse, retryAfter: nil, jitter: 0, at: .zero)
        #expect(limiter.allowance == 8)
    }

    @Test func `repeated overload pauses all requests, longer each time, until one succeeds`() {
        var limiter = RateLimiter(concurrency: 8)
        func pause() -> Duration {
            limiter.slowDown(
                since: limiter.mark, .noResponse, retryAfter: nil, jitter: 1, at: .zero)
            var probe = limiter
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
        limiter.speedUp()
        #expect(limiter.start(inFlight: 0, at: .seconds(15)) == .now)
        limiter.slowDown(
            since: limiter.mark, .noResponse, retryAfter: nil, jitter: 1, at: .seconds(15))
        #expect(limiter.start(inFlight: 0, at: .seconds(15)) == .now)
    }
}
