import SIWALifecycle

/// An Apple that answers a batch's requests as a test says. Answers take no time, and waits only that
/// of the feed.
struct ScriptedApple: FeedTransport {
    /// The answer to the first request, the second, and so on.
    let answer: @Sendable (_ number: Int) -> HTTPResponse

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        HTTPResponse(status: 200)
    }

    func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, wake: WakeSignal, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed {
        var (feed, now, sent) = (feed, Duration.zero, 0)
        while true {
            switch feed.next(at: now) {
            case .send(_, let slot, _):
                sent += 1
                feed.take(.success(answer(sent)), for: slot, at: now)
            case .wait(let moment):
                guard let moment else {
                    throw TransportError(
                        .cancelled, "nothing happens any more", requestMayHaveLeft: false)
                }
                now = max(now, moment)
            case .finished: return feed
            }
        }
    }
}
