internal import SignInWithApple
internal import Synchronization

/// Makes the real transport when the first request goes out, so that a dry run loads no
/// libcurl; all requests share it, and with it their connection.
final class DeferredTransport: Transport {
    private let settings: World.TransportSettings
    private let make: @Sendable (World.TransportSettings) throws(TransportError) -> any Transport
    private let made = Mutex<(any Transport)?>(nil)

    init(
        settings: World.TransportSettings,
        make: @escaping @Sendable (World.TransportSettings) throws(TransportError) -> any Transport
    ) {
        self.settings = settings
        self.make = make
    }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        try await transport().send(request, timeout: timeout)
    }

    private func transport() throws(TransportError) -> any Transport {
        try made.withLock { made throws(TransportError) in
            if let made { return made }
            let transport = try make(settings)
            made = transport
            return transport
        }
    }
}
