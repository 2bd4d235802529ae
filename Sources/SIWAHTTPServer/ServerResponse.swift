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

/// Sends the response to one request: exactly once, from any thread.
package struct ServerReply: Sendable {
    let exchange: Exchange

    /// Sends the response.
    package func send(_ response: ServerResponse) { exchange.answer(response) }
}
