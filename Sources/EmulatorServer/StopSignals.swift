internal import Dispatch
internal import Glibc

/// SIGINT and SIGTERM as something to wait for instead of something that kills.
public final class StopSignals: Sendable {
    private let stream: AsyncStream<Void>
    /// Never touched again, only kept alive.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    /// Takes the two signals over from now on.
    public init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns when the first of them comes.
    public func wait() async {
        for await _ in stream { return }
    }
}
