/// Carries a feed over any transport, a task for each request: for the emulator in the same
/// process, and for tests.
public struct FeedCarrier<Base: Transport>: FeedTransport {
    private let base: Base

    /// Carries feeds over `base`.
    public init(_ base: Base) { self.base = base }

    /// Sends one request; see ``Transport``.
    public func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        try await base.send(request, timeout: timeout)
    }

    /// Carries `feed` to its end; see ``FeedTransport``.
    public func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, bell: FeedBell, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed {
        var feed = feed
        let news = AsyncStream<News>.makeStream()
        bell.onRing { news.continuation.yield(.ring) }
        defer { bell.onRing(nil) }
        await withTaskGroup(of: Void.self) { group in
            var waking: Task<Void, Never>?
            var arrivals = news.stream.makeAsyncIterator()
            carrying: while true {
                switch feed.next(at: timekeeper.elapsed()) {
                case .finished: break carrying
                case .send(let request, let slot, let timeout):
                    group.addTask { [base] in
                        let result: Result<HTTPResponse, TransportError>
                        do throws(TransportError) {
                            result = .success(try await base.send(request, timeout: timeout))
                        } catch {
                            result = .failure(error)
                        }
                        news.continuation.yield(.answer(slot, result))
                    }
                    continue carrying
                case .wait(let moment):
                    waking?.cancel()
                    waking = moment.map { moment in
                        Task {
                            try? await timekeeper.sleep(max(moment - timekeeper.elapsed(), .zero))
                            if !Task.isCancelled { news.continuation.yield(.ring) }
                        }
                    }
                }
                guard case .answer(let slot, let result) = await arrivals.next() else { continue }
                feed.take(result, for: slot, at: timekeeper.elapsed())
            }
            waking?.cancel()
        }
        return feed
    }

    private enum News: Sendable {
        case ring
        case answer(Int, Result<HTTPResponse, TransportError>)
    }
}
