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
    /// The Unix socket cannot belong to the group; `reason` says why.
    case group(path: String, name: String, reason: String)
    /// The service manager passed no listening socket with this name.
    case notInherited(name: String)
    /// The HTTP server did not start.
    case notStarted
    /// The HTTP server did not start with its TLS certificate and private key.
    case identity
}

extension ServerError: CustomStringConvertible {
    /// What happened, as a sentence without a full stop.
    package var description: String {
        switch self {
        case .address(let text): "'\(text)' is not an IP address"
        case .inUse(let address, let port): "port \(port) of \(address) is in use"
        case .refused(let address, let port, let reason):
            "cannot listen on port \(port) of \(address): \(reason)"
        case .socketInUse(let path): "another process listens on \(path)"
        case .socket(let path, let reason): "cannot listen on \(path): \(reason)"
        case .group(let path, let name, let reason):
            "cannot give \(path) to the group '\(name)': \(reason)"
        case .notInherited(let name):
            "the service manager passed no listening socket '\(name)'"
        case .notStarted: "the HTTP server did not start"
        case .identity:
            "the certificate and the private key cannot be used: they are not of one key pair, or not PEM"
        }
    }
}
