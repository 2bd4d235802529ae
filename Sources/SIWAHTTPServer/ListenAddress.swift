/// Where a server listens.
package enum ListenAddress: Hashable, Sendable {
    /// An IPv4 or IPv6 address and a port; port 0 is any free one.
    case tcp(host: String, port: UInt16)
    /// A Unix socket that its owner and a group may connect to; nil is the group of the process.
    case unix(path: String, group: String?)
    /// A socket that the service manager opened (sd_listen_fds(3)), by its name.
    case inherited(name: String)

    /// Whether only processes on this machine can connect; nil for an inherited socket, which only
    /// the service manager knows.
    ///
    /// - Throws: ``ServerError`` if the host is not an IP address.
    package func isLocal() throws(ServerError) -> Bool? {
        switch self {
        case .tcp(let host, _): try ListeningSocket.isLocal(host)
        case .unix: true
        case .inherited: nil
        }
    }

    /// Any free port of the loopback interface.
    package static let anyLoopbackPort = ListenAddress.tcp(host: "127.0.0.1", port: 0)
}
