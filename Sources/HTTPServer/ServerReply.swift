/// Answers one request: from any thread, and once.
package struct ServerReply: Sendable {
    let exchange: Exchange

    /// Sends the answer.
    package func send(_ response: ServerResponse) { exchange.answer(response) }
}
