internal import SIWALifecycle
internal import Synchronization

/// Opens the real transport when the first request is sent, so that a dry run does not load
/// libcurl. All requests share it and its connections.
final class DeferredTransport: FeedTransport {
    private let settings: World.TransportSettings
    private let open:
        @Sendable (World.TransportSettings) throws(TransportError) -> any FeedTransport
    private let opened = Mutex<(any FeedTransport)?>(nil)

    init(
        settings: World.TransportSettings,
        opening open:
            @escaping @Sendable (World.TransportSettings) throws(TransportError) ->
            any FeedTransport
    ) {
        self.settings = settings
        self.open = open
    }

    package func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        try await transport().send(request, timeout: timeout)
    }

    func carry<Feed: RequestFeed>(
        _ feed: Feed, width: Int, wake: WakeSignal, timekeeper: Timekeeper
    ) async throws(TransportError) -> Feed {
        try await transport().carry(feed, width: width, wake: wake, timekeeper: timekeeper)
    }

    private func transport() throws(TransportError) -> any FeedTransport {
        try opened.withLock { opened throws(TransportError) in
            if let opened { return opened }
            let transport = try open(settings)
            opened = transport
            return transport
        }
    }
}
