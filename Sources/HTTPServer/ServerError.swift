/// Why a server does not listen.
package enum ServerError: Error, Hashable, Sendable {
    /// The text is no IPv4 or IPv6 address.
    case address(String)
    /// Another program listens there.
    case inUse(address: String, port: UInt16)
    /// The system refused, in its own words.
    case refused(address: String, port: UInt16, reason: String)
    /// Another process answers on the Unix socket.
    case socketInUse(path: String)
    /// The Unix socket cannot be made, in the system's words.
    case socket(path: String, reason: String)
    /// The service manager passed no listening socket of this name.
    case notInherited(name: String)
    /// The HTTP server did not start: with TLS, most likely for its certificate.
    case notStarted
}
