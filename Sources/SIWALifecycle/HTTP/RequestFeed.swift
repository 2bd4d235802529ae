/// A source of requests that takes their answers, so that a transport can send a million requests
/// with few of them in memory.
///
/// A feed neither waits nor sends. The transport calls ``next(at:)`` whenever something may have
/// changed, sends the request that it gets, and passes every result to ``take(_:for:at:)``.
package protocol RequestFeed: Sendable {
    /// What to do now.
    ///
    /// - Parameter now: the time since an arbitrary start, the same for all calls.
    mutating func next(at now: Duration) -> FeedStep

    /// Takes the result of the request in `slot`, which is free again.
    mutating func take(
        _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration)
}

/// The next step of a ``RequestFeed``.
package enum FeedStep: Sendable {
    /// Send this request, wait at most `timeout`, and return its result for `slot`: a small number
    /// that no other request in flight has.
    case send(HTTPRequest, slot: Int, timeout: Duration)
    /// Call again when an answer arrives, when the ``WakeSignal`` is notified, or at this time.
    case wait(until: Duration?)
    /// Everything was answered, and no request will follow.
    case finished
}

/// A transport that sends the requests of whole feeds, many at once over few connections.
package protocol FeedTransport: Transport {
    /// Sends the requests of `feed` until it is finished, and returns it.
    ///
    /// - Parameters:
    ///   - width: the most requests the feed will have in flight.
    ///   - wake: notified when the feed may have more to do, such as more input.
    func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, wake: WakeSignal, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed
}
