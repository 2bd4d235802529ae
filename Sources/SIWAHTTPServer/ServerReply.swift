/// Sends the response to one request: exactly once, from any thread.
package struct ServerReply: Sendable {
    let exchange: Exchange

    /// Sends the response.
    package func send(_ response: ServerResponse) { exchange.answer(response) }
}
