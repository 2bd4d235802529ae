internal import Glibc
internal import SIWALifecycle
internal import Synchronization

/// A listener and the event loops that serve it.
package final class HTTPServer: Sendable {
    /// Answers requests. It is called on the event loop's thread and must not block.
    package typealias Handler = @Sendable (ServerRequest) -> ServerAnswer

    private struct State: ~Copyable {
        var socket: ListeningSocket
        var loops: [EventLoop]
        var identity: TLSIdentity?
    }

    private let state: Mutex<State>
    private let handling: RequestHandling
    private let sendsDate: Bool
    private let loopCount: Int

    /// Serves the connections of `socket` from now on.
    ///
    /// - Parameters:
    ///   - identity: the TLS certificate and key; nil for plain HTTP.
    ///   - loops: how many threads share the connections.
    ///   - sendsDate: false if the handler sets `Date`.
    ///   - endTurn: called when the handler was called for all requests that were received, on the
    ///     event loop's thread.
    package init(
        _ socket: consuming ListeningSocket, identity: TLSIdentity? = nil,
        limits: ServerLimits = ServerLimits(), loops: Int = 1, sendsDate: Bool = true,
        endTurn: @escaping @Sendable () -> Void = {}, _ handler: @escaping Handler
    ) throws(ServerError) {
        // A closed connection must not end the process with SIGPIPE.
        signal(SIGPIPE, SIG_IGN)
        handling = RequestHandling(
            limits, isEncrypted: identity != nil, endTurn: endTurn, handler)
        (self.sendsDate, loopCount) = (sendsDate, loops)
        let started = try Self.start(
            socket, identity, loops: loops, sendsDate: sendsDate, handling)
        state = Mutex(State(socket: socket, loops: started, identity: identity))
    }

    /// Fails if a certificate and its key cannot be used. Opens a port of the loopback interface
    /// for a moment.
    package static func check(_ identity: TLSIdentity) async throws(ServerError) {
        let server = try HTTPServer(
            try ListeningSocket.open(.anyLoopbackPort), identity: identity
        ) { _ in .now(ServerResponse(status: 503, body: .dropped)) }
        await server.stop()
    }

    /// Uses another certificate for new connections; existing ones are closed after their next
    /// response.
    ///
    /// - Throws: ``ServerError`` if the certificate cannot be used; the old one then stays in use.
    package func reload(_ identity: TLSIdentity) throws(ServerError) {
        try state.withLock { state throws(ServerError) in
            let old = state.loops
            state.loops = try Self.start(
                state.socket, identity, loops: loopCount, sendsDate: sendsDate, handling)
            for loop in old { loop.drain() }
            state.identity = identity
        }
    }

    /// The TLS certificate and key in use; nil for plain HTTP.
    package var identity: TLSIdentity? { state.withLock { $0.identity } }

    /// Why clients cannot connect to its Unix socket, as the end of a sentence; nil if they can.
    package var socketFault: String? { state.withLock { $0.socket.fault } }

    /// Stops accepting connections; each open one is closed after its next response.
    package func stopAccepting() {
        state.withLock { state in
            for loop in state.loops { loop.drain() }
            state.socket.refuseConnections()
        }
    }

    /// How many requests are being received or answered.
    package var requestCount: Int { handling.exchanges.load(ordering: .relaxed) }

    /// Cancels the requests in flight, waits a second for them, and closes all connections; also in a
    /// task that is cancelled.
    package func stop() async { await Task { await stopNow() }.value }

    private func stopNow() async {
        // libmicrohttpd must not stop while a connection is suspended.
        let dropped = await handling.inFlight.close(grace: .seconds(1))
        for loop in state.withLock({ $0.loops }) { await loop.stop() }
        // A task releases its request a moment after the request has left the list in flight.
        for _ in 0..<1000 where requestCount > dropped {
            try? await Task.sleep(for: .milliseconds(1))
        }
        assert(requestCount <= dropped, "a request was never freed")
    }

    /// Whether all event loops are running: each completes an iteration at least once a second.
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
