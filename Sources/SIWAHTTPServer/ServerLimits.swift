/// The resources that clients of one listener may use.
package struct ServerLimits: Sendable {
    /// Open connections; more wait in the backlog.
    package var connections = 1024
    /// The bytes of a request's header section: names, values, and the separators between them.
    package var headerBytes = 16 << 10
    /// The bytes of a body that are kept for the handler.
    package var bodyBytes = 64 << 10
    /// The bytes of a body that are read if its length is announced: a longer body is refused
    /// without being read. A body of unknown length is refused as soon as it is too long; at most
    /// this number of further bytes is then read.
    package var readBytes = 1 << 20
    /// The bytes of a body of unknown length that are read over TLS, where it can be refused only at
    /// its end. The connection of a longer one is closed.
    package var encryptedBytes = 16 << 20
    /// The time to send a request. A slower connection is closed without a response.
    package var requestTime = Duration.seconds(10)
    /// The time that a client may take to read a response.
    package var answerTime = Duration.seconds(60)
    /// The time that a connection may be idle.
    package var idleTime = Duration.seconds(75)
    /// The number of streamed bodies at the same time; more are refused with 503.
    package var streams = 32

    /// The limits of siwa-server's listeners.
    package init() {}
}
