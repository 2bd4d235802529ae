internal import SIWACCurl
internal import SIWALifecycle

/// The transfers of a loop by their slots. The transfer of a slot is reused by its next request.
struct SlottedTransfers {
    let multi: CurlMulti
    private let library: CurlLibrary
    private let authorities: Authorities
    private let version: Transfer.Version
    private let policy: TransferPolicy
    private var seats: [Seat?] = []
    /// The number of requests in flight.
    private var inFlight = 0
    /// The number of streams that ended before their answer was complete.
    private var deadStreams = 0

    /// The state of a slot.
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
        over multi: CurlMulti, _ version: Transfer.Version, trusting authorities: Authorities,
        _ library: CurlLibrary, policy: TransferPolicy
    ) {
        (self.multi, self.version, self.library) = (multi, version, library)
        (self.authorities, self.policy) = (authorities, policy)
    }

    /// Starts a request.
    mutating func start(
        _ request: HTTPRequest, _ slot: Int, _ timeout: Duration
    ) throws(TransportError) {
        let version = deadStreams < Self.toleratedDeaths ? version : .http1
        while seats.count <= slot { seats.append(nil) }
        let transfer: Transfer
        if let used = seats[slot]?.transfer {
            transfer = used
            try transfer.carry(request, timeout: timeout, over: version)
        } else {
            transfer = try Transfer(
                request, timeout: timeout, trusting: authorities, library, over: version,
                policy: policy)
            try transfer.label(slot)
            if version == .http2 { try multi.cork(transfer) }
        }
        try add(Seat(transfer: transfer, timeout: timeout, version: version), slot)
    }

    /// Ends a request; nil if it had ended before.
    mutating func cancel(_ slot: Int) -> TransportError? {
        guard let seat = seats[slot], seat.isTaken else { return nil }
        remove(slot, seat)
        return seat.transfer.cancellation
    }

    /// Ends all requests.
    mutating func removeAll() {
        for slot in seats.indices {
            if let seat = seats[slot], seat.isTaken { remove(slot, seat) }
        }
    }

    /// The next finished request; nil if none has finished.
    mutating func nextFinished() -> (slot: Int, result: Result<HTTPResponse, TransportError>)? {
        while let (slot, code) = multi.nextFinished() {
            if let seat = seats[slot], let result = finish(slot, seat, code) {
                return (slot, result)
            }
        }
        return nil
    }

    /// Ends a transfer; nil if its request was sent again.
    private mutating func finish(
        _ slot: Int, _ seat: Seat, _ code: CURLcode
    ) -> Result<HTTPResponse, TransportError>? {
        remove(slot, seat)
        // An answer that arrives before the request was read ends its stream, which libcurl 7.88
        // reports as an error although the answer is complete (RFC 9113 §8.1).
        if code != CURLE_OK, seat.transfer.hasWholeAnswer {
            return .success(seat.transfer.response)
        }
        if code == CURLE_HTTP2_STREAM || code == CURLE_HTTP2, fallBack(slot, seat) { return nil }
        return seat.transfer.outcome(code)
    }

    /// Sends the request of a failed stream again, over HTTP/1.1.
    private mutating func fallBack(_ slot: Int, _ seat: Seat) -> Bool {
        deadStreams += 1
        let (transfer, timeout) = (seat.transfer, seat.timeout)
        let request = transfer.request
        guard seat.version == .http2, request.isRepeatable,
            (try? transfer.carry(request, timeout: timeout, over: .http1)) != nil
        else { return false }
        return (try? add(Seat(transfer: transfer, timeout: timeout, version: .http1), slot)) != nil
    }

    private mutating func add(_ seat: Seat, _ slot: Int) throws(TransportError) {
        try multi.add(seat.transfer)
        seats[slot] = seat
        inFlight += 1
    }

    private mutating func remove(_ slot: Int, _ seat: Seat) {
        multi.remove(seat.transfer)
        seats[slot]?.isTaken = false
        inFlight -= 1
    }

    /// After this number of failures, the server's HTTP/2 is considered faulty.
    private static let toleratedDeaths = 8
}

// After an early answer, libcurl may also wait for the end of a stream that stays open.
extension SlottedTransfers {
    /// Whether a request in flight may stall.
    var mayStall: Bool { (version == .http2 || policy.answer != .whole) && inFlight > 0 }

    /// Ends the requests whose answer has begun and does not continue, or need not continue; returns
    /// their results.
    mutating func endStalled(
        at now: Duration
    ) -> [(slot: Int, result: Result<HTTPResponse, TransportError>)] {
        var ended: [(slot: Int, result: Result<HTTPResponse, TransportError>)] = []
        for slot in seats.indices {
            guard let seat = seats[slot], seat.isTaken else { continue }
            let isDecided = seat.transfer.isDecided
            guard isDecided || seat.version == .http2 && seat.transfer.hasHead else { continue }
            guard let since = seat.headSince else {
                seats[slot]?.headSince = now
                continue
            }
            guard now - since > Self.longestStall(seat.transfer) else { continue }
            if isDecided {
                remove(slot, seat)
                ended.append((slot, .success(seat.transfer.response)))
                continue
            }
            // Treat it as a failed stream.
            if let result = finish(slot, seat, CURLE_HTTP2_STREAM) { ended.append((slot, result)) }
        }
        return ended
    }

    /// How long to wait for a slow body: a request that is sent again may take effect twice.
    private static func longestStall(_ transfer: Transfer) -> Duration {
        transfer.hasWholeAnswer || transfer.isDecided ? .milliseconds(500) : .seconds(10)
    }
}
