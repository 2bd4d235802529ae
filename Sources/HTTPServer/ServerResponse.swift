package import Lifecycle

/// An answer of a server.
package struct ServerResponse: Sendable {
    /// The status code.
    package var status: Int
    /// The header fields, without those that describe the message's length.
    package var fields: [HTTPField]
    /// What follows the header section.
    package var body: Body

    /// What follows the header section.
    package enum Body: Sendable {
        /// A whole body.
        case bytes([UInt8])
        /// A body that is written while it is sent, for as long as the client reads it.
        case stream(@Sendable (BodyWriter) async -> Void)
        /// These bytes of a longer body that was announced; then the connection breaks.
        case broken([UInt8], announced: Int)
        /// Nothing, and no header section either: the connection is closed.
        case dropped
    }

    /// Composes an answer.
    package init(status: Int, fields: [HTTPField] = [], body: Body = .bytes([])) {
        (self.status, self.fields, self.body) = (status, fields, body)
    }
}
