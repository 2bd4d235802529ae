internal import Dispatch
internal import SIWACCurl
internal import SIWALifecycle

/// Sends the requests of one feed over libcurl, on one thread from start to end.
struct CurlLoop<Feed: RequestFeed> {
    private(set) var feed: Feed
    private var transfers: SlottedTransfers
    private let timekeeper: Timekeeper
    private var nextStallCheck = Duration.zero

    init(_ feed: Feed, over transfers: SlottedTransfers, timekeeper: Timekeeper) {
        (self.feed, self.transfers, self.timekeeper) = (feed, transfers, timekeeper)
    }

    /// Sends requests until the feed is finished.
    ///
    /// - Parameters:
    ///   - wake: notified when the feed may have more to do, or when a request was cancelled.
    ///   - cancelled: returns the slots of the requests that were cancelled since the last call.
    mutating func run(
        wake: WakeSignal, cancelled: () -> [Int] = { [] }
    ) throws(TransportError) {
        let multi = transfers.multi
        let listener = wake.addListener { multi.wake() }
        defer { wake.remove(listener) }
        // Drops the requests that are still in flight: the feed no longer needs them.
        defer { transfers.removeAll() }
        while true {
            for slot in cancelled() { cancel(slot) }
            guard case .wait(let moment) = startAll() else { return }
            try multi.perform()
            if takeFinished() { continue }
            endStalled()
            let wait = moment.map { $0 - timekeeper.elapsed() } ?? Self.longestWait
            let limit = transfers.mayStall ? Self.stallInterval : Self.longestWait
            try multi.poll(atMost: min(wait, limit))
        }
    }

    private static var longestWait: Duration { .seconds(1) }

    private enum Started {
        case wait(until: Duration?)
        case finished
    }

    /// Starts all requests that the feed has.
    private mutating func startAll() -> Started {
        let now = timekeeper.elapsed()
        while true {
            switch feed.next(at: now) {
            case .send(let request, let slot, let timeout):
                do throws(TransportError) {
                    try transfers.start(request, slot, timeout)
                } catch {
                    feed.take(.failure(error), for: slot, at: now)
                }
            case .wait(let moment): return .wait(until: moment)
            case .finished: return .finished
            }
        }
    }

    private mutating func cancel(_ slot: Int) {
        guard let error = transfers.cancel(slot) else { return }
        feed.take(.failure(error), for: slot, at: timekeeper.elapsed())
    }

    /// Returns finished requests to the feed; true if there were any.
    private mutating func takeFinished() -> Bool {
        guard var (slot, result) = transfers.nextFinished() else { return false }
        let now = timekeeper.elapsed()
        while true {
            feed.take(result, for: slot, at: now)
            guard let next = transfers.nextFinished() else { return true }
            (slot, result) = next
        }
    }

    private mutating func endStalled() {
        let now = timekeeper.elapsed()
        guard now >= nextStallCheck else { return }
        nextStallCheck = now + Self.stallInterval
        for (slot, result) in transfers.endStalled(at: now) {
            feed.take(result, for: slot, at: now)
        }
    }

    /// How often to look for transfers that have stalled.
    private static var stallInterval: Duration { .milliseconds(100) }
}
