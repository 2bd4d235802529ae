/// Something that carries one request to Apple and brings the answer back.
///
/// libcurl is one; the emulator is another, so that everything above can be
/// tested without a socket.
package protocol Transport: Sendable {
    /// Sends `request` once and waits at most `timeout` for the whole answer.
    ///
    /// Redirects are not followed and nothing is repeated.
    ///
    /// - Throws: ``TransportError``, which knows whether the request can have left.
    func send(_ request: HTTPRequest, timeout: Duration) async throws(TransportError)
        -> HTTPResponse
}

/// No complete answer came.
package struct TransportError: Error, Hashable, Sendable {
    /// What went wrong.
    package enum Kind: String, Hashable, Sendable {
        /// The host name could not be resolved.
        case nameLookup
        /// No connection.
        case connect
        /// The TLS handshake failed.
        case tls
        /// The server's certificate is not one to trust.
        case certificate
        /// The proxy refused or could not be found.
        case proxy
        /// Time ran out.
        case timeout
        /// The connection ended before the answer did.
        case cut
        /// The answer is larger than any of Apple's.
        case tooLarge
        /// The answer is not HTTP.
        case malformed
        /// The caller gave up.
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
    /// What the transport said of it, for people; holds no secret.
    package let message: String
    /// False only when certainly no byte of the request reached the server: the one
    /// case in which a single-use code may be sent again.
    package let requestMayHaveLeft: Bool

    /// Composes an error.
    package init(_ kind: Kind, _ message: String, requestMayHaveLeft: Bool) {
        self.kind = kind
        self.message = message
        self.requestMayHaveLeft = requestMayHaveLeft
    }
}
