internal import Synchronization

/// Gives out requests one at a time and takes the answers: how a transport carries a million
/// of them with a few in memory.
///
/// A feed neither waits nor sends. Whoever carries it asks ``next(at:)`` whenever something may
/// have changed, sends what it gets, and hands every result back to ``take(_:for:at:)``.
public protocol RequestFeed: Sendable {
    /// What to do now.
    ///
    /// - Parameter now: the time since some fixed start, the same for all calls.
    mutating func next(at now: Duration) -> FeedStep

    /// Takes the result of the request that was given out for `slot`, which is free again.
    mutating func take(
        _ result: Result<HTTPResponse, TransportError>, for slot: Int, at now: Duration)
}

/// What a ``RequestFeed`` wants next.
public enum FeedStep: Sendable {
    /// Send this, wait at most `timeout`, and hand the result back for `slot`: a small number
    /// that no other request in flight has.
    case send(HTTPRequest, slot: Int, timeout: Duration)
    /// Ask again when an answer comes, when the ``FeedBell`` rings, or at this moment.
    case wait(until: Duration?)
    /// Nothing is in flight and nothing will follow.
    case finished
}

/// A transport that carries whole feeds, many requests at once over few connections.
public protocol FeedTransport: Transport {
    /// Carries `feed` to its end and gives it back.
    ///
    /// - Parameters:
    ///   - width: the most requests the feed will have in flight.
    ///   - bell: wakes the carrier when the feed has news from outside, such as more input.
    func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, bell: FeedBell, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed
}

/// Wakes whoever carries a feed, from any thread.
public final class FeedBell: Sendable {
    private let state = Mutex<State>(State())

    private struct State {
        var hasRung = false
        var listener: (@Sendable () -> Void)?
    }

    /// A bell nobody listens to yet.
    public init() {}

    /// The feed has news.
    public func ring() {
        state.withLock { state in
            state.hasRung = true
            state.listener?()
        }
    }

    /// Sets who is woken; nil for nobody, who then is certainly not being called. A ring that
    /// came before is not lost.
    ///
    /// - Parameter listener: called on any thread; must not ring or block.
    public func onRing(_ listener: (@Sendable () -> Void)?) {
        state.withLock { state in
            state.listener = listener
            if state.hasRung { listener?() }
            state.hasRung = false
        }
    }
}
