package import SIWALifecycle

/// A server's response.
package struct ServerResponse: Sendable {
    /// The status code.
    package var status: Int
    /// The header fields, without those that describe the message's length.
    package var fields: [HTTPField]
    /// The content after the header section.
    package var body: Body

    /// The content after the header section.
    package enum Body: Sendable {
        /// A whole body.
        case bytes([UInt8])
        /// A streamed body, for as long as the client reads it.
        case stream(@Sendable (BodyWriter) async -> Void)
        /// The first bytes of a longer body that was announced; then the connection breaks.
        case broken([UInt8], announced: Int)
        /// Neither a body nor a header section: the connection is closed.
        case dropped
    }

    /// Creates a response.
    package init(status: Int, fields: [HTTPField] = [], body: Body = .bytes([])) {
        (self.status, self.fields, self.body) = (status, fields, body)
    }

    /// The same response as the last one of its connection.
    var closing: Self {
        var response = self
        response.fields.append(HTTPField("Connection", "close"))
        return response
    }
}

/// What a handler has for a request.
package enum ServerAnswer: Sendable {
    /// The response. Nothing has to be awaited for it, which saves a task.
    case now(ServerResponse)
    /// A function that gives the response. It runs on the event loop's thread and must not block;
    /// while it is suspended, the loop serves others. Its task is cancelled when the server stops.
    case later(@Sendable () async -> ServerResponse)
    /// A function that is called at once, and has a callback send the response. This needs no task, and
    /// a request that waits keeps little memory; the function is not told when the server stops.
    case promised(@Sendable (ServerReply) -> Void)
}

/// Sends the response to one request: exactly once, from any thread.
package struct ServerReply: Sendable {
    let exchange: Exchange
    /// Nil if memory was exhausted when the connection was opened.
    let loop: EventLoop?

    /// Sends the response.
    package func send(_ response: ServerResponse) { exchange.answer(response) }

    /// Calls a function on the event loop's thread: at once, if this is that thread, or if the loop has ended.
    package func perform(_ body: @escaping @Sendable () -> Void) {
        if let loop { loop.perform(body) } else { body() }
    }
}
