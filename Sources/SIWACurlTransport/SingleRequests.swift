internal import SIWALifecycle
internal import Synchronization

/// The requests of ``CurlTransport/send(_:timeout:)`` as a feed: added from any thread, and sent by
/// the thread of the ``CurlLoop``.
final class SingleRequests: Sendable {
    typealias Reply = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>

    /// Wakes the loop.
    let wake = WakeSignal()
    private let state = Mutex(State())

    /// Identifies a request for cancelling it. A slot cannot, because another request may use it by
    /// then.
    struct ID: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Pending {
        let id: ID
        let request: HTTPRequest
        let timeout: Duration
        let reply: Reply
    }

    private struct State {
        var lastNumber = 0
        var waiting: [Pending] = []
        /// The requests in flight by their slots.
        var inFlight: [Pending?] = []
        var cancelled: [Int] = []
        /// Whether a loop takes requests.
        var isCarried = false
    }

    /// The id of the next request.
    func newID() -> ID {
        state.withLock { state in
            state.lastNumber += 1
            return ID(number: state.lastNumber)
        }
    }

    /// Adds a request.
    ///
    /// - Returns: true if no loop is running: then the caller must start one.
    func add(_ id: ID, _ request: HTTPRequest, timeout: Duration, _ reply: Reply) -> Bool {
        let isCarried = state.withLock { state in
            state.waiting.append(
                Pending(id: id, request: request, timeout: timeout, reply: reply))
            defer { state.isCarried = true }
            return state.isCarried
        }
        if isCarried { wake.notify() }
        return !isCarried
    }

    /// Cancels a request unless it is finished.
    func cancel(_ id: ID) {
        let unsent: Pending? = state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.id == id }) {
                return state.waiting.remove(at: index)
            }
            if let slot = state.inFlight.firstIndex(where: { $0?.id == id }) {
                state.cancelled.append(slot)
            }
            return nil
        }
        unsent?.reply.resume(
            returning: .failure(
                TransportError(
                    .cancelled, "the request was cancelled", requestMayHaveLeft: false)))
        wake.notify()
    }

    /// The slots of the requests that were cancelled since the last call.
    func takeCancelled() -> [Int] {
        state.withLock { state in
            defer { state.cancelled = [] }
            return state.cancelled
        }
    }

    /// Fails all requests, because the loop failed.
    func fail(_ error: TransportError) {
        let pending = state.withLock { state in
            let pending = state.waiting + state.inFlight.compactMap(\.self)
            (state.waiting, state.inFlight, state.cancelled) = ([], [], [])
            state.isCarried = false
            return pending
        }
        for request in pending { request.reply.resume(returning: .failure(error)) }
    }

    fileprivate func next() -> FeedStep {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                guard state.inFlight.contains(where: { $0 != nil }) else {
                    state.isCarried = false
                    return .finished
                }
                return .wait(until: nil)
            }
            let pending = state.waiting.removeFirst()
            let slot = state.inFlight.firstIndex { $0 == nil } ?? state.inFlight.count
            if slot == state.inFlight.count { state.inFlight.append(nil) }
            state.inFlight[slot] = pending
            return .send(pending.request, slot: slot, timeout: pending.timeout)
        }
    }

    fileprivate func take(_ result: Result<HTTPResponse, TransportError>, for slot: Int) {
        let finished = state.withLock { state in
            state.cancelled.removeAll { $0 == slot }
            defer { state.inFlight[slot] = nil }
            return state.inFlight[slot]
        }
        finished?.reply.resume(returning: result)
    }

    /// The requests as a feed, which is finished whenever nothing is waiting or in flight.
    var feed: Feed { Feed(requests: self) }

    /// See ``SingleRequests/feed``.
    struct Feed: RequestFeed {
        fileprivate let requests: SingleRequests

        mutating func next(at now: Duration) -> FeedStep { requests.next() }

        mutating func take(
            _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration
        ) {
            requests.take(result, for: slot)
        }
    }
}
