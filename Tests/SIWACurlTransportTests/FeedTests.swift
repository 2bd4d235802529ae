import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

/// Whole feeds over real sockets.
@Suite struct FeedTests {
    @Test func `every request of a feed is answered, a few at a time`() async throws {
        try await RawServer.serving([.readRequest, .answer(200, "{}"), .again]) { server in
            let feed = try await carry(CountedFeed(server.url, count: 500, width: 8))
            #expect(feed.results.count == 500)
            #expect(feed.results.allSatisfy { (try? $0.get().status) == 200 })
            #expect(server.requests.count == 500)
            #expect(server.connectionCount <= 10)
        }
    }

    @Test func `an unreachable or failing server affects only its own request`() async throws {
        try await RawServer.serving(script: { index in
            [.readRequest, index % 3 == 0 ? .close : .answer(200, "{}"), .close]
        }) { server in
            let feed = try await carry(CountedFeed(server.url, count: 30, width: 1))
            #expect(feed.results.count == 30)
            #expect(feed.results.contains { (try? $0.get()) != nil })
        }
        let refused = try await carry(CountedFeed("http://127.0.0.1:1", count: 3, width: 2))
        for result in refused.results {
            #expect(throws: TransportError.self) { try result.get() }
        }
    }

    @Test func `a waiting feed is woken by its signal`() async throws {
        try await RawServer.serving([.readRequest, .answer(200, "{}"), .again]) { server in
            let wake = WakeSignal()
            let gate = Gate()
            let waiting = CountedFeed(server.url, count: 1, width: 1, gate: gate)
            async let carried = carry(waiting, wake: wake)
            try await Task.sleep(for: .milliseconds(20))
            gate.open()
            wake.notify()
            #expect(try await carried.results.count == 1)
        }
    }

    @Test func `the end of a feed cancels its requests`() async throws {
        try await RawServer.serving([.readRequest, .hold]) { server in
            let feed = try await carry(
                CountedFeed(server.url, count: 2, width: 2, endsEarly: true))
            #expect(feed.results.isEmpty)
        }
    }

    private func carry(
        _ feed: CountedFeed, wake: WakeSignal = WakeSignal()
    ) async throws -> CountedFeed {
        try await CurlTransport().carry(feed, width: 8, wake: wake, timekeeper: .system)
    }
}

private final class Gate: Sendable {
    private let isOpened = Mutex(false)
    var isOpen: Bool { isOpened.withLock { $0 } }
    func open() { isOpened.withLock { $0 = true } }
}

private struct CountedFeed: RequestFeed {
    let url: String
    let count: Int
    let width: Int
    var gate: Gate?
    var endsEarly = false
    var sent = 0
    var free: [Int]
    var results: [Result<HTTPResponse, TransportError>] = []

    init(_ url: String, count: Int, width: Int, gate: Gate? = nil, endsEarly: Bool = false) {
        (self.url, self.count, self.width) = (url, count, width)
        (self.gate, self.endsEarly) = (gate, endsEarly)
        free = Array(0..<width)
    }

    mutating func next(at now: Duration) -> FeedStep {
        if let gate, !gate.isOpen { return .wait(until: nil) }
        if sent < count, let slot = free.popLast() {
            sent += 1
            return .send(.form(to: url), slot: slot, timeout: .seconds(60))
        }
        return endsEarly || results.count == count ? .finished : .wait(until: nil)
    }

    mutating func take(
        _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration
    ) {
        free.append(slot)
        results.append(result)
    }
}
