import SIWACrypto
import Synchronization
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// A run with the test in place of the network and the clock.
struct BatchRunTests {
    @Test func `every item gets one result, with any number of parallel requests`() {
        var harness = BatchHarness(items: 10, concurrency: 3)
        var widest = 0
        while true {
            let slots = harness.startAll(at: .zero)
            widest = max(widest, harness.inFlight.count)
            guard let slot = harness.inFlight.keys.min() else { break }
            #expect(slots.count <= 3)
            harness.answer(slot, .ok, at: .zero)
        }
        #expect(widest == 3)
        #expect(Set(harness.results) == Set((1...10).map { "\($0) done" }))
        #expect(harness.results.count == 10)
        #expect(harness.isCompleted)
    }

    @Test(arguments: [(500, 2), (429, 4), (503, 4)])
    func `an item is tried again, and fails alone if other items succeed`(
        _ status: Int, _ attempts: Int
    ) {
        var harness = BatchHarness(items: 2, concurrency: 2, maxAttempts: 2)
        var now = Duration.zero
        _ = harness.startAll(at: now)
        harness.answer(item: 2, .ok, at: now)
        for _ in 0..<attempts {
            #expect(harness.results == ["2 done"])
            harness.answer(item: 1, .page(status), at: now)
            now += .seconds(25)
            _ = harness.startAll(at: now)
        }
        #expect(harness.results == ["2 done", "1 failed after \(attempts)"])
        #expect(harness.isCompleted)
    }

    @Test func `an outage uses no attempts, and ends the run if it lasts`() {
        var harness = BatchHarness(items: 5, concurrency: 2, maxAttempts: 2)
        var now = Duration.zero
        for _ in 0..<200 {
            _ = harness.startAll(at: now)
            if harness.isFinished { break }
            for slot in harness.inFlight.keys { harness.answer(slot, .page(503), at: now) }
            now += .seconds(5)
        }
        #expect(harness.results.isEmpty)
        #expect(now > .seconds(100))
        guard case .gaveUp(.unusable(let page)) = harness.run.end else {
            Issue.record("ended as \(harness.run.end)")
            return
        }
        #expect(page.status == 503)
    }

    @Test func `a failure after a long pause of the input is not an outage`() {
        var harness = BatchHarness(items: 2, concurrency: 1)
        _ = harness.startAll(at: .zero)
        harness.answer(item: 1, .ok, at: .zero)
        _ = harness.startAll(at: .seconds(600))
        harness.answer(item: 2, .page(503), at: .seconds(600))
        _ = harness.startAll(at: .seconds(620))
        #expect(!harness.isFinished)
        harness.answer(item: 2, .ok, at: .seconds(620))
        _ = harness.startAll(at: .seconds(620))
        #expect(harness.isCompleted)
    }

    @Test func `a short outage causes no failures`() {
        var harness = BatchHarness(items: 5, concurrency: 2, maxAttempts: 2)
        var now = Duration.zero
        while !harness.isFinished {
            _ = harness.startAll(at: now)
            for slot in harness.inFlight.keys.sorted() {
                harness.answer(slot, now < .seconds(60) ? .lost : .ok, at: now)
            }
            now += .seconds(2)
        }
        #expect(harness.results.sorted() == (1...5).map { "\($0) done" })
    }

    @Test func `a refused client stops the run, and requests in progress still count`() {
        var harness = BatchHarness(items: 100, concurrency: 4)
        _ = harness.startAll(at: .zero)
        harness.answer(item: 2, .error("invalid_client"), at: .zero)
        #expect(harness.startAll(at: .zero).isEmpty)
        #expect(!harness.isFinished)
        for item in [1, 3, 4] { harness.answer(item: item, .ok, at: .zero) }
        _ = harness.startAll(at: .zero)
        #expect(harness.isFinished)
        #expect(harness.results == ["1 done", "3 done", "4 done"])
        guard case .stopped(.refused(let error)) = harness.run.end else {
            Issue.record("ended as \(harness.run.end)")
            return
        }
        #expect(error.code == .invalidClient)
    }

    @Test func `an untrusted certificate stops the run`() {
        var harness = BatchHarness(items: 3, concurrency: 1)
        _ = harness.startAll(at: .zero)
        harness.answer(0, .failure(.certificate), at: .zero)
        _ = harness.startAll(at: .zero)
        #expect(harness.isFinished && harness.results.isEmpty)
    }

    @Test func `an interrupted run starts no requests and waits for a limited time`() {
        var harness = BatchHarness(items: 10, concurrency: 3)
        _ = harness.startAll(at: .zero)
        harness.stop()
        #expect(harness.startAll(at: .seconds(1)).isEmpty)
        harness.answer(item: 1, .ok, at: .seconds(1))
        _ = harness.startAll(at: .seconds(2))
        #expect(!harness.isFinished)
        _ = harness.startAll(at: .seconds(7))
        #expect(harness.isFinished)
        #expect(harness.results == ["1 done"])
    }

    @Test func `a 429 with Retry-After pauses the whole run`() {
        var harness = BatchHarness(items: 10, concurrency: 4)
        _ = harness.startAll(at: .zero)
        harness.answer(item: 1, .throttled(seconds: 7), at: .zero)
        for item in 2...4 { harness.answer(item: item, .ok, at: .zero) }
        #expect(harness.startAll(at: .seconds(6)).isEmpty)
        #expect(!harness.startAll(at: .seconds(7)).isEmpty)
    }

    @Test func `a Retry-After beyond the time limit ends the run and reports its duration`() {
        var harness = BatchHarness(items: 10, concurrency: 1)
        _ = harness.startAll(at: .zero)
        harness.answer(item: 1, .throttled(seconds: 3600), at: .zero)
        _ = harness.startAll(at: .zero)
        #expect(harness.isFinished)
        guard case .askedToWait(.seconds(3600)) = harness.run.end else {
            Issue.record("ended as \(harness.run.end)")
            return
        }
    }

    @Test func `an item with two requests sends them one after the other`() {
        var harness = BatchHarness(items: 2, concurrency: 1, steps: 2)
        var order: [Int] = []
        while !harness.isFinished {
            for slot in harness.startAll(at: .zero) {
                order.append(harness.inFlight[slot] ?? 0)
                harness.answer(slot, .ok, at: .zero)
            }
        }
        #expect(order == [1, 1, 2, 2])
        #expect(harness.results == ["1 done", "2 done"])
    }

    @Test func `no item starts before the shared preparation, which is awaited`() {
        var harness = BatchHarness(items: 4, concurrency: 2, ticketLasts: 2)
        var order: [Int] = []
        while !harness.isFinished {
            for slot in harness.startAll(at: .zero) {
                order.append(harness.inFlight[slot] ?? 0)
                harness.answer(slot, .ok, at: .zero)
            }
        }
        #expect(order == [0, 1, 2, 0, 3, 4])
        #expect(harness.results == (1...4).map { "\($0) done" })
    }

    @Test(arguments: ["invalid_client", "invalid_request", "of_tomorrow"])
    func `a refused preparation stops the run, and an outage does not`(_ code: String) {
        var harness = BatchHarness(items: 2, concurrency: 2, ticketLasts: 2)
        _ = harness.startAll(at: .zero)
        harness.answer(item: 0, .page(503), at: .zero)
        #expect(harness.startAll(at: .seconds(30)).map { harness.inFlight[$0] } == [0])
        harness.answer(item: 0, .error(code), at: .seconds(30))
        _ = harness.startAll(at: .seconds(30))
        #expect(harness.isFinished && harness.results.isEmpty)
        guard case .stopped(.refused(let error)) = harness.run.end else {
            Issue.record("ended as \(harness.run.end)")
            return
        }
        #expect(error.code.rawValue == code)
    }

    @Test func `without items, nothing is prepared`() {
        var harness = BatchHarness(items: 0, concurrency: 2, ticketLasts: 2)
        #expect(harness.startAll(at: .zero).isEmpty)
        #expect(harness.isFinished && harness.isCompleted)
    }

    @Test func `doubtful refusals wait for another answer`() {
        var harness = BatchHarness(items: 4, concurrency: 4, doubts: [1, 3])
        _ = harness.startAll(at: .zero)
        for item in [1, 3] { harness.answer(item: item, .ok, at: .zero) }
        #expect(harness.results.isEmpty)
        harness.answer(item: 2, .ok, at: .zero)
        #expect(harness.results == ["2 done", "1 done", "3 done"])
    }

    @Test(arguments: [true, false])
    func `doubtful refusals get results at the end of the input, but not if the run stops`(
        _ stops: Bool
    ) {
        var harness = BatchHarness(items: 3, concurrency: 3, doubts: [1, 2, 3])
        _ = harness.startAll(at: .zero)
        for item in 1...2 { harness.answer(item: item, .ok, at: .zero) }
        harness.answer(item: 3, stops ? .error("invalid_client") : .ok, at: .zero)
        _ = harness.startAll(at: .zero)
        #expect(harness.isFinished)
        #expect(harness.results == (stops ? [] : ["1 done", "2 done", "3 done"]))
    }

    @Test func `the brake drops held results and writes finished ones`() {
        let refused = Set(1...300).subtracting([150, 250])
        var harness = BatchHarness(
            items: 300, concurrency: 10, doubts: refused, brake: .share(percent: 50))
        var now = Duration.zero
        while !harness.isFinished {
            _ = harness.startAll(at: now)
            for slot in harness.inFlight.keys.sorted() { harness.answer(slot, .ok, at: now) }
            now += .milliseconds(10)
        }
        #expect(harness.results == ["150 done"])
        guard case .tooManyRefused(let count, let all) = harness.run.end else {
            Issue.record("ended as \(harness.run.end)")
            return
        }
        #expect(count == 199 && all == 200)
    }

    @Test func `a signal drops held results`() {
        var harness = BatchHarness(
            items: 60, concurrency: 30, doubts: [1, 2, 3], brake: .share(percent: 50))
        _ = harness.startAll(at: .zero)
        for item in 1...5 { harness.answer(item: item, .ok, at: .zero) }
        harness.stop()
        _ = harness.startAll(at: .seconds(1))
        for slot in harness.inFlight.keys.sorted() { harness.answer(slot, .ok, at: .seconds(1)) }
        _ = harness.startAll(at: .seconds(2))
        #expect(harness.isFinished)
        #expect(Set(harness.results) == Set((4...30).map { "\($0) done" }))
    }

    @Test func `held results are judged when the input pauses, and the run goes on`() {
        var harness = BatchHarness(
            items: 30, concurrency: 30, doubts: [1, 2], pausesAfter: 25, brake: .share(percent: 50))
        _ = harness.startAll(at: .zero)
        for item in 1...24 { harness.answer(item: item, .ok, at: .zero) }
        _ = harness.startAll(at: .zero)
        // One is still in flight.
        #expect(!harness.results.contains("1 done"))
        harness.answer(item: 25, .ok, at: .zero)
        _ = harness.startAll(at: .zero)
        #expect(harness.results.suffix(2) == ["1 done", "2 done"])
        #expect(!harness.isFinished)
    }

    @Test func `a run whose refusals are too many stops when the input pauses`() {
        var harness = BatchHarness(
            items: 30, concurrency: 30, doubts: Set(1...15), pausesAfter: 25,
            brake: .share(percent: 50))
        _ = harness.startAll(at: .zero)
        for item in 1...25 { harness.answer(item: item, .ok, at: .zero) }
        _ = harness.startAll(at: .zero)
        #expect(harness.isFinished && harness.results.count == 10)
    }

    /// The answer about one lease tells that others have ended, too, as after a suspension.
    @Test func `each item has a result if the deadlines of others end while one is asked for`() {
        let isSuspended = Mutex(false)
        let areEnded = Mutex(false)
        var harness = BatchHarness(items: 3, concurrency: 3) { item in
            if item.number == 2, isSuspended.withLock({ $0 }) { areEnded.withLock { $0 = true } }
            return areEnded.withLock { $0 } ? .zero : .seconds(60)
        }
        _ = harness.startAll(at: .zero)
        for item in 1...3 { harness.answer(item: item, .throttled(seconds: 20), at: .seconds(1)) }
        isSuspended.withLock { $0 = true }
        _ = harness.startAll(at: .seconds(2))
        #expect(harness.results == ["2 late", "3 late"])
        _ = harness.startAll(at: .seconds(3))
        #expect(harness.results.sorted() == ["1 late", "2 late", "3 late"])
        #expect(harness.isCompleted)
    }

    @Test func `nothing is sent after the deadline, even after a long Retry-After`() {
        var harness = BatchHarness(
            items: 2, concurrency: 2, deadline: { $0.number == 1 ? .seconds(2) : .seconds(60) })
        _ = harness.startAll(at: .zero)
        harness.answer(item: 1, .throttled(seconds: 3), at: .zero)
        harness.answer(item: 2, .throttled(seconds: 3), at: .zero)
        #expect(harness.startAll(at: .seconds(1)).isEmpty)
        #expect(harness.results.isEmpty)
        #expect(harness.startAll(at: .seconds(4)).map { harness.inFlight[$0] } == [2])
        #expect(harness.results == ["1 late"])
        harness.answer(item: 2, .ok, at: .seconds(4))
        _ = harness.startAll(at: .seconds(4))
        #expect(harness.isCompleted && harness.results == ["1 late", "2 done"])
    }

    @Test func `two minutes without a usable response are reported, and reported again`() {
        var harness = BatchHarness(items: 10, concurrency: 2)
        _ = harness.startAll(at: .zero)
        harness.answer(0, .ok, at: .zero)
        _ = harness.startAll(at: .zero)
        _ = harness.startAll(at: .seconds(119))
        #expect(harness.warnings.isEmpty)
        _ = harness.startAll(at: .seconds(120))
        _ = harness.startAll(at: .seconds(121))
        #expect(harness.warnings == [.seconds(120)])
        _ = harness.startAll(at: .seconds(250))
        #expect(harness.warnings == [.seconds(120), .seconds(250)])
        harness.answer(item: 2, .ok, at: .seconds(251))
        _ = harness.startAll(at: .seconds(260))
        #expect(harness.warnings.count == 2)
    }

    @Test func `an input without data causes no warning`() {
        var harness = BatchHarness(items: 1, concurrency: 2, isSlow: true)
        _ = harness.startAll(at: .zero)
        #expect(harness.warnings.isEmpty)
        _ = harness.startAll(at: .seconds(500))
        #expect(harness.warnings.isEmpty)
    }

    @Test func `the run waits for a slow input`() {
        var harness = BatchHarness(items: 1, concurrency: 2, isSlow: true)
        #expect(harness.startAll(at: .zero).isEmpty)
        #expect(!harness.isFinished)
        #expect(harness.startAll(at: .zero).count == 1)
    }
}
