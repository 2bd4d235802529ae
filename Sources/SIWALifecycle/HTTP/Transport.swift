/// Sends a request to Apple and returns the answer.
///
/// Implemented with libcurl, and by the emulator, so that everything above it can be tested without
/// a socket.
package protocol Transport: Sendable {
    /// Sends `request` once and waits at most `timeout` for the whole answer.
    ///
    /// Redirects are not followed and nothing is repeated.
    ///
    /// - Throws: ``TransportError``, which tells whether the request may have been sent.
    func send(_ request: HTTPRequest, timeout: Duration) async throws(TransportError)
        -> HTTPResponse
}

/// No complete answer was received.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: String, Hashable, Sendable {
        /// The host name could not be resolved.
        case nameLookup
        /// No connection could be opened.
        case connect
        /// The TLS handshake failed.
        case tls
        /// The server's certificate is not trusted.
        case certificate
        /// The proxy refused or could not be found.
        case proxy
        /// The timeout expired.
        case timeout
        /// The connection was closed before the answer was complete.
        case cut
        /// The answer is larger than any of Apple's.
        case tooLarge
        /// The answer is not HTTP.
        case malformed
        /// The caller cancelled the request.
        case cancelled
        /// The authorities that the settings or the system name cannot be read.
        case authorities
        /// The system refuses this process threads or file descriptors.
        case resources
        /// The transport itself could not start.
        case unavailable
    }

    /// What went wrong.
    package let kind: Kind
    /// The transport's message, for people; contains no secret.
    package let message: String
    /// False only if certainly no byte of the request reached the server: only then may a
    /// single-use code be sent again.
    package let requestMayHaveLeft: Bool

    /// The transport's message.
    package var description: String { message }

    /// Creates an error.
    package init(_ kind: Kind, _ message: String, requestMayHaveLeft: Bool) {
        self.kind = kind
        self.message = message
        self.requestMayHaveLeft = requestMayHaveLeft
    }
}
