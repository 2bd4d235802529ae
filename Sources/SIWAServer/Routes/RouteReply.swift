internal import SIWAHTTPServer

/// Sends the response to one request: exactly once, from any thread.
struct RouteReply: Sendable {
    private let reply: ServerReply
    private let finished: @Sendable (Result<ServerResponse, Problem>) -> ServerResponse

    /// - Parameter finished: makes a complete response of a route's.
    init(
        _ reply: ServerReply,
        _ finished: @escaping @Sendable (Result<ServerResponse, Problem>) -> ServerResponse
    ) { (self.reply, self.finished) = (reply, finished) }

    /// Sends the response.
    func send(_ response: Result<ServerResponse, Problem>) { reply.send(finished(response)) }

    /// Calls a function on the thread that serves the request: at once, if this is that thread, or if
    /// it has ended.
    func perform(_ body: @escaping @Sendable () -> Void) { reply.perform(body) }
}
