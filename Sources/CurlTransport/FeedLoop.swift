internal import CCurl
internal import Dispatch
internal import SignInWithApple

/// Carries one feed over a multi handle of its own, on one thread from start to end: libcurl's
/// rule of one thread at a time holds because nobody else ever sees the handle.
struct FeedLoop<Feed: RequestFeed>: ~Copyable {
    private var feed: Feed
    private let library: CurlLibrary
    private let multi: UnsafeMutableRawPointer
    private let authorities: Authorities
    private let timekeeper: Timekeeper
    private var seats: [Seat?]
    /// How many streams died before their answer was whole.
    private var deadStreams = 0

    /// What belongs to a slot; the transfer is used again by the slot's next request.
    private struct Seat {
        let transfer: Transfer
        var timeout: Duration
        var version: Transfer.Version
        var isTaken = true
        /// When the answer's header was first seen complete.
        var headSince: Duration?
    }

    init(
        _ feed: Feed, width: Int, trusting authorities: Authorities, timekeeper: Timekeeper,
        _ library: CurlLibrary
    ) throws(TransportError) {
        guard let multi = library.functions.pointee.multi_init() else {
            throw unavailable("libcurl has no memory")
        }
        (self.feed, self.library, self.multi) = (feed, library, multi)
        (self.authorities, self.timekeeper) = (authorities, timekeeper)
        seats = Array(repeating: nil, count: width)
        // One connection for every hundred streams. A server without HTTP/2 gets more, and
        // requests that have to fall back to HTTP/1.1 need one besides the streams'.
        let connections = max((width + 99) / 100, min(width, 16)) + 1
        for option in [CURLMOPT_MAX_HOST_CONNECTIONS, CURLMOPT_MAXCONNECTS] {
            _ = siwa_set_multi(library.functions, multi, option, connections)
        }
    }

    deinit { _ = library.functions.pointee.multi_cleanup(multi) }

    /// Carries the feed to its end.
    consuming func run(bell: FeedBell) throws(TransportError) -> Feed {
        let handle = WakeHandle(library: library, multi: multi)
        bell.onRing { handle.wake() }
        // Nobody may wake a handle that is gone.
        defer { bell.onRing(nil) }
        while case .wait(let moment) = try startAll() {
            var running: CInt = 0
            try check(library.functions.pointee.multi_perform(multi, &running))
            if takeFinished() { continue }
            endStalled()
            let wait = moment.map { $0 - timekeeper.elapsed() } ?? Self.longestWait
            let limit = min(wait, isAnswering ? Self.stallCheck : Self.longestWait)
            try check(
                library.functions.pointee.multi_poll(
                    multi, nil, 0, CInt(max(limit.wholeMilliseconds, 0)), nil))
        }
        // What is still in flight is given up: the feed said that it will not be missed.
        for seat in seats { remove(seat) }
        return feed
    }

    private static var longestWait: Duration { .seconds(1) }

    private enum Started {
        case wait(until: Duration?)
        case finished
    }

    /// Starts all that the feed wants started.
    private mutating func startAll() throws(TransportError) -> Started {
        while true {
            switch feed.next(at: timekeeper.elapsed()) {
            case .send(let request, let slot, let timeout): try start(request, slot, timeout)
            case .wait(let moment): return .wait(until: moment)
            case .finished: return .finished
            }
        }
    }

    private mutating func start(
        _ request: HTTPRequest, _ slot: Int, _ timeout: Duration
    ) throws(TransportError) {
        let version = deadStreams < Self.toleratedDeaths ? Transfer.Version.http2 : .http1
        let transfer: Transfer
        if let seat = seats[slot] {
            transfer = seat.transfer
            try transfer.carry(request, timeout: timeout, over: version)
        } else {
            transfer = try Transfer(
                request, timeout: timeout, trusting: authorities, library, over: version)
            try transfer.label(slot)
        }
        seats[slot] = Seat(transfer: transfer, timeout: timeout, version: version)
        try check(library.functions.pointee.multi_add_handle(multi, transfer.easy))
    }

    /// Hands over what libcurl is done with; true when there was any.
    private mutating func takeFinished() -> Bool {
        var hasAny = false
        var left: CInt = 0
        while let message = library.functions.pointee.multi_info_read(multi, &left) {
            guard let easy = message.pointee.easy_handle,
                let slot = Transfer.label(of: easy, library), let seat = seats[slot]
            else { continue }
            finish(slot, seat, siwa_result(message))
            hasAny = true
        }
        return hasAny
    }

    private mutating func finish(_ slot: Int, _ seat: Seat, _ code: CURLcode) {
        remove(seat)
        // An answer that came before the request was read ends its stream, which libcurl
        // 7.88 reports as an error although all of the answer is there (RFC 9113 §8.1).
        if code != CURLE_OK, seat.transfer.hasWholeAnswer {
            return hand(.success(seat.transfer.response), for: slot)
        }
        if code == CURLE_HTTP2_STREAM || code == CURLE_HTTP2, fallBack(slot, seat) { return }
        hand(seat.transfer.outcome(code), for: slot)
    }

    private mutating func hand(_ result: Result<HTTPResponse, TransportError>, for slot: Int) {
        seats[slot]?.isTaken = false
        feed.take(result, for: slot, at: timekeeper.elapsed())
    }

    /// Sends the request of a stream that died once more, over HTTP/1.1.
    private mutating func fallBack(_ slot: Int, _ seat: Seat) -> Bool {
        deadStreams += 1
        let request = seat.transfer.request
        guard seat.version == .http2, request.isRepeatable,
            (try? seat.transfer.carry(request, timeout: seat.timeout, over: .http1)) != nil,
            library.functions.pointee.multi_add_handle(multi, seat.transfer.easy) == CURLM_OK
        else { return false }
        seats[slot] = Seat(transfer: seat.transfer, timeout: seat.timeout, version: .http1)
        return true
    }

    private func remove(_ seat: Seat?) {
        guard let seat, seat.isTaken else { return }
        _ = library.functions.pointee.multi_remove_handle(multi, seat.transfer.easy)
    }

    private func check(_ code: CURLMcode) throws(TransportError) {
        guard code != CURLM_OK else { return }
        let reason = library.functions.pointee.multi_strerror(code).map { String(cString: $0) }
        throw TransportError(
            .unavailable, reason ?? "libcurl failed", requestMayHaveLeft: true)
    }

    /// So many deaths are no accident: the server does not get HTTP/2 right.
    private static var toleratedDeaths: Int { 8 }
}

// Answers that came early can also leave their stream open, and libcurl waits for its end.
extension FeedLoop {
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
            // To libcurl this is a stream that died.
            finish(slot, seat, CURLE_HTTP2_STREAM)
        }
    }

    private static var stallCheck: Duration { .milliseconds(100) }

    /// A body that is only slow is worth waiting for: who sends again may be heard twice.
    private static func longestStall(_ transfer: Transfer) -> Duration {
        transfer.hasWholeAnswer ? .milliseconds(500) : .seconds(10)
    }
}

/// Ends a wait of libcurl from any thread: the one call it allows.
private struct WakeHandle: @unchecked Sendable {
    let library: CurlLibrary
    let multi: UnsafeMutableRawPointer

    func wake() { _ = library.functions.pointee.multi_wakeup(multi) }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
