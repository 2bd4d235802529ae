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

/// A server's TLS certificate and private key, both in PEM.
package struct TLSIdentity: Hashable, Sendable {
    /// The certificate and its chain.
    package let certificate: String
    let key: String

    /// Pairs a certificate, with the chain that clients need, with its private key.
    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

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
