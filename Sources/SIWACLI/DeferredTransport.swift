internal import SignInWithApple
internal import Synchronization

/// Opens the real transport when the first request goes out, so that a dry run loads no
/// libcurl; all requests share it, and with it their connection.
final class DeferredTransport: Transport {
    private let settings: World.TransportSettings
    private let open: @Sendable (World.TransportSettings) throws(TransportError) -> any Transport
    private let opened = Mutex<(any Transport)?>(nil)

    init(
        settings: World.TransportSettings,
        opening open:
            @escaping @Sendable (World.TransportSettings) throws(TransportError) -> any Transport
    ) {
        self.settings = settings
        self.open = open
    }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        try await transport().send(request, timeout: timeout)
    }

    private func transport() throws(TransportError) -> any Transport {
        try opened.withLock { opened throws(TransportError) in
            if let opened { return opened }
            let transport = try open(settings)
            opened = transport
            return transport
        }
    }
}
