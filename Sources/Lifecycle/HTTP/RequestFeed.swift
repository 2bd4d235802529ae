/// Gives out requests one at a time and takes the answers: how a transport carries a million
/// of them with a few in memory.
///
/// A feed neither waits nor sends. The carrier calls ``next(at:)`` whenever something may
/// have changed, sends what it gets, and hands every result back to ``take(_:for:at:)``.
package protocol RequestFeed: Sendable {
    /// What to do now.
    ///
    /// - Parameter now: the time since some fixed start, the same for all calls.
    mutating func next(at now: Duration) -> FeedStep

    /// Takes the result of the request that was given out for `slot`, which is free again.
    mutating func take(
        _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration)
}

/// The next step of a ``RequestFeed``.
package enum FeedStep: Sendable {
    /// Send this, wait at most `timeout`, and hand the result back for `slot`: a small number
    /// that no other request in flight has.
    case send(HTTPRequest, slot: Int, timeout: Duration)
    /// Ask again when an answer comes, when the ``WakeSignal`` is notified, or at this moment.
    case wait(until: Duration?)
    /// Everything was answered, and no request will follow.
    case finished
}

/// A transport that carries whole feeds, many requests at once over few connections.
package protocol FeedTransport: Transport {
    /// Carries `feed` to its end and gives it back.
    ///
    /// - Parameters:
    ///   - width: the most requests the feed will have in flight.
    ///   - wake: notified when the feed may have more to do, such as more input.
    func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, wake: WakeSignal, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed
}
