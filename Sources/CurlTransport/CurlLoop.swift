internal import CCurl
internal import Dispatch
internal import Lifecycle

/// Sends the requests of one feed over libcurl, on one thread from start to end.
struct CurlLoop<Feed: RequestFeed> {
    private(set) var feed: Feed
    private let multi: CurlMulti
    private let library: CurlLibrary
    private let authorities: Authorities
    private let timekeeper: Timekeeper
    private let version: Transfer.Version
    private let policy: TransferPolicy
    private var seats: [Seat?] = []
    /// The number of streams that ended before their answer was complete.
    private var deadStreams = 0

    /// The state of a slot; its transfer is reused by the slot's next request.
    private struct Seat {
        let transfer: Transfer
        var timeout: Duration
        var version: Transfer.Version
        var isTaken = true
        /// When the answer's header was first known to be complete.
        var headSince: Duration?
    }

    /// - Parameter version: the protocol to begin with.
    init(
        _ feed: Feed, over multi: CurlMulti, _ version: Transfer.Version,
        trusting authorities: Authorities, timekeeper: Timekeeper, _ library: CurlLibrary,
        policy: TransferPolicy
    ) {
        self.policy = policy
        (self.feed, self.library, self.multi) = (feed, library, multi)
        (self.authorities, self.timekeeper, self.version) = (authorities, timekeeper, version)
    }

    /// Sends requests until the feed is finished.
    ///
    /// - Parameters:
    ///   - wake: notified when the feed may have more to do, or when a request was cancelled.
    ///   - cancelled: returns the slots of the requests that were cancelled since the last call.
    mutating func run(
        wake: WakeSignal, cancelled: () -> [Int] = { [] }
    ) throws(TransportError) {
        let listener = wake.addListener { [multi] in multi.wake() }
        defer { wake.remove(listener) }
        // Drops the requests that are still in flight: the feed no longer needs them.
        defer { for seat in seats { remove(seat) } }
        while true {
            for slot in cancelled() { cancel(slot) }
            guard case .wait(let moment) = startAll() else { return }
            try multi.perform()
            if takeFinished() { continue }
            endStalled()
            let wait = moment.map { $0 - timekeeper.elapsed() } ?? Self.longestWait
            try multi.poll(atMost: min(wait, isAnswering ? Self.stallCheck : Self.longestWait))
        }
    }

    private static var longestWait: Duration { .seconds(1) }

    private enum Started {
        case wait(until: Duration?)
        case finished
    }

    /// Starts all requests that the feed has.
    private mutating func startAll() -> Started {
        while true {
            switch feed.next(at: timekeeper.elapsed()) {
            case .send(let request, let slot, let timeout):
                do throws(TransportError) {
                    try start(request, slot, timeout)
                } catch {
                    hand(.failure(error), for: slot)
                }
            case .wait(let moment): return .wait(until: moment)
            case .finished: return .finished
            }
        }
    }

    private mutating func start(
        _ request: HTTPRequest, _ slot: Int, _ timeout: Duration
    ) throws(TransportError) {
        let version = deadStreams < Self.toleratedDeaths ? version : .http1
        while seats.count <= slot { seats.append(nil) }
        let transfer: Transfer
        if let seat = seats[slot] {
            transfer = seat.transfer
            try transfer.carry(request, timeout: timeout, over: version)
        } else {
            transfer = try Transfer(
                request, timeout: timeout, trusting: authorities, library, over: version,
                policy: policy)
            try transfer.label(slot)
        }
        try multi.add(transfer)
        seats[slot] = Seat(transfer: transfer, timeout: timeout, version: version)
    }

    private mutating func cancel(_ slot: Int) {
        guard let seat = seats[slot], seat.isTaken else { return }
        remove(seat)
        hand(.failure(seat.transfer.cancellation), for: slot)
    }

    /// Returns finished requests to the feed; true if there were any.
    private mutating func takeFinished() -> Bool {
        var hasAny = false
        while let (slot, code) = multi.nextFinished() {
            guard let seat = seats[slot] else { continue }
            finish(slot, seat, code)
            hasAny = true
        }
        return hasAny
    }

    private mutating func finish(_ slot: Int, _ seat: Seat, _ code: CURLcode) {
        remove(seat)
        // An answer that arrives before the request was read ends its stream, which libcurl 7.88
        // reports as an error although the answer is complete (RFC 9113 §8.1).
        if code != CURLE_OK, seat.transfer.hasWholeAnswer {
            return hand(.success(seat.transfer.response), for: slot)
        }
        if code == CURLE_HTTP2_STREAM || code == CURLE_HTTP2, fallBack(slot, seat) { return }
        hand(seat.transfer.outcome(code), for: slot)
    }

    private mutating func hand(_ result: Result<HTTPResponse, TransportError>, for slot: Int) {
        if seats.indices.contains(slot) { seats[slot]?.isTaken = false }
        feed.take(result, for: slot, at: timekeeper.elapsed())
    }

    /// Sends the request of a failed stream again, over HTTP/1.1.
    private mutating func fallBack(_ slot: Int, _ seat: Seat) -> Bool {
        deadStreams += 1
        let request = seat.transfer.request
        guard seat.version == .http2, request.isRepeatable,
            (try? seat.transfer.carry(request, timeout: seat.timeout, over: .http1)) != nil,
            (try? multi.add(seat.transfer)) != nil
        else { return false }
        seats[slot] = Seat(transfer: seat.transfer, timeout: seat.timeout, version: .http1)
        return true
    }

    private func remove(_ seat: Seat?) {
        guard let seat, seat.isTaken else { return }
        multi.remove(seat.transfer)
    }

    /// After this number of failures, the server's HTTP/2 is considered faulty.
    private static var toleratedDeaths: Int { 8 }
}

// After an early answer, libcurl may also wait for the end of a stream that stays open.
extension CurlLoop {
    private var isAnswering: Bool { seats.contains { $0.map(Self.isOpenEnded) ?? false } }

    private static func isOpenEnded(_ seat: Seat) -> Bool {
        seat.isTaken && seat.version == .http2 && seat.transfer.hasHead
    }

    private mutating func endStalled() {
        let now = timekeeper.elapsed()
        for slot in seats.indices {
            guard let seat = seats[slot], Self.isOpenEnded(seat) else { continue }
            guard let since = seat.headSince else {
                seats[slot]?.headSince = now
                continue
            }
            guard now - since > Self.longestStall(seat.transfer) else { continue }
            // Treat it as a failed stream.
            finish(slot, seat, CURLE_HTTP2_STREAM)
        }
    }

    private static var stallCheck: Duration { .milliseconds(100) }

    /// How long to wait for a slow body: a request that is sent again may take effect twice.
    private static func longestStall(_ transfer: Transfer) -> Duration {
        transfer.hasWholeAnswer ? .milliseconds(500) : .seconds(10)
    }
}
