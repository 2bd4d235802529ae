internal import Glibc
internal import Lifecycle
internal import Synchronization

/// A listener and the event loops that serve it.
package final class HTTPServer: Sendable {
    /// What answers requests.
    package enum Handler: Sendable {
        /// Runs on the event loop's thread, and must not block it; while it waits for something,
        /// the loop serves others. Its task is cancelled when the server stops.
        case task(@Sendable (ServerRequest) async -> ServerResponse)
        /// Is called on the event loop's thread, must not block, and answers when it can.
        case direct(@Sendable (ServerRequest, ServerReply) -> Void)
    }

    private struct State: ~Copyable {
        let socket: ListeningSocket
        var loops: [EventLoop]
    }

    private let state: Mutex<State>
    private let handling: RequestHandling
    private let sendsDate: Bool
    private let loopCount: Int

    /// Serves the connections of `socket` from now on.
    ///
    /// - Parameters:
    ///   - identity: makes it speak TLS.
    ///   - loops: how many threads share the connections.
    ///   - sendsDate: false if the handler sets `Date`.
    package init(
        _ socket: consuming ListeningSocket, identity: TLSIdentity? = nil,
        limits: ServerLimits = ServerLimits(), loops: Int = 1, sendsDate: Bool = true,
        _ handler: Handler
    ) throws(ServerError) {
        // A client that hangs up must not end the program.
        signal(SIGPIPE, SIG_IGN)
        handling = RequestHandling(limits, handler)
        (self.sendsDate, loopCount) = (sendsDate, loops)
        let started = try Self.start(
            socket, identity, loops: loops, sendsDate: sendsDate, handling)
        state = Mutex(State(socket: socket, loops: started))
    }

    /// Proves itself with another certificate to new connections; those that exist end after their
    /// next answer.
    ///
    /// - Throws: ``ServerError`` if the certificate cannot be used: everything stays as it was.
    package func reload(_ identity: TLSIdentity) throws(ServerError) {
        try state.withLock { state throws(ServerError) in
            let old = state.loops
            state.loops = try Self.start(
                state.socket, identity, loops: loopCount, sendsDate: sendsDate, handling)
            for loop in old { loop.drain() }
        }
    }

    /// Accepts no connection any more; each connection ends after its next answer.
    package func stopAccepting() {
        handling.closeConnections()
        for loop in state.withLock({ $0.loops }) { loop.drain() }
    }

    /// How many requests are being received or answered.
    package var requestCount: Int { handling.exchanges.load(ordering: .relaxed) }

    /// Cancels what is in flight, waits for it, and closes all connections.
    package func stop() async {
        // libmicrohttpd must not stop while a connection is suspended.
        await handling.inFlight.close()
        for loop in state.withLock({ $0.loops }) { await loop.stop() }
        // A task lets go of its request a moment after it has left the list of those in flight.
        for _ in 0..<1000 where requestCount != 0 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        assert(requestCount == 0, "a request was never freed")
    }

    /// Whether all event loops turn: each does so at least once a second.
    package func isAlive(within limit: Duration) -> Bool {
        state.withLock { $0.loops }.allSatisfy { $0.silence < limit }
    }

    private static func start(
        _ socket: borrowing ListeningSocket, _ identity: TLSIdentity?, loops: Int,
        sendsDate: Bool, _ handling: RequestHandling
    ) throws(ServerError) -> [EventLoop] {
        var started: [EventLoop] = []
        do throws(ServerError) {
            for _ in 0..<loops {
                guard let copy = socket.duplicated() else { throw .notStarted }
                started.append(
                    try EventLoop(
                        copy, identity, sendsDate: sendsDate,
                        connections: handling.limits.connections / loops, handling))
            }
            return started
        } catch {
            for loop in started { loop.drain() }
            throw error
        }
    }
}
