/// Sends the requests of a feed over any transport, with a task for each: for siwa-server, for the
/// emulator in the same process, and for tests.
package struct FeedCarrier<Base: Transport>: FeedTransport {
    private let base: Base

    /// Sends over `base`.
    package init(_ base: Base) { self.base = base }

    /// Sends one request; see ``Transport``.
    package func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        try await base.send(request, timeout: timeout)
    }

    /// Sends all requests of `feed`; see ``FeedTransport``.
    package func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, wake: WakeSignal, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed {
        var feed = feed
        let events = AsyncStream<Event>.makeStream()
        let listener = wake.addListener { events.continuation.yield(.notified) }
        defer { wake.remove(listener) }
        await withTaskGroup(of: Void.self) { group in
            var waking: Task<Void, Never>?
            var arrivals = events.stream.makeAsyncIterator()
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
                        events.continuation.yield(.answer(slot, result))
                    }
                    continue carrying
                case .wait(let moment):
                    waking?.cancel()
                    waking = moment.map { moment in
                        Task {
                            try? await timekeeper.sleep(max(moment - timekeeper.elapsed(), .zero))
                            if !Task.isCancelled { events.continuation.yield(.notified) }
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

    private enum Event: Sendable {
        case notified
        case answer(Int, Result<HTTPResponse, TransportError>)
    }
}
