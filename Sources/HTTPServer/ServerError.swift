/// Why a server cannot listen.
package enum ServerError: Error, Hashable, Sendable {
    /// The text is not an IPv4 or IPv6 address.
    case address(String)
    /// Another program listens there.
    case inUse(address: String, port: UInt16)
    /// The system refused; `reason` is its message.
    case refused(address: String, port: UInt16, reason: String)
    /// Another process listens on the Unix socket.
    case socketInUse(path: String)
    /// The Unix socket cannot be created; `reason` is the system's message.
    case socket(path: String, reason: String)
    /// The service manager passed no listening socket with this name.
    case notInherited(name: String)
    /// The HTTP server did not start: with TLS, most likely because of its certificate.
    case notStarted
}
