package import SIWALifecycle

/// A request as a listener received it.
package final class ServerRequest: Sendable {
    /// The method as sent; any text.
    package let method: String
    /// Path and query as in the request line, not decoded.
    package let target: String
    /// The header fields in the order received.
    package let fields: [HTTPField]
    /// The body, up to the limit of the listener.
    package let body: [UInt8]
    /// Why the request as a whole must be refused; nil if it is acceptable.
    package let fault: Fault?
    /// Who sent it: an address, or a process on this machine.
    package let peer: Peer

    /// Why a request must be refused, whatever it asks for.
    package enum Fault: Hashable, Sendable {
        /// The body is longer than the limit of the listener.
        case bodyTooLarge
        /// The header section is longer than its limit.
        case headerTooLarge
        /// More than one length of the body is given (RFC 9112 §6.3). The connection is closed
        /// after the response.
        case ambiguousLength
        /// `Transfer-Encoding` is not `chunked`, so that the end of the body is unknown.
        case unknownCoding
        /// The request line contains a NUL or invalid UTF-8, or the method is not a word.
        case malformedRequestLine
        /// The name of a header field is not a token, or its value contains a control character
        /// (RFC 9110 §5.1 and §5.5). Another server may read such a field as the body's length.
        case malformedField
        /// `Host` is missing or given more than once (RFC 9112 §3.2).
        case ambiguousHost
    }

    /// The client that sent a request.
    package enum Peer: Hashable, Sendable, CustomStringConvertible {
        /// An IP address without the port.
        case address(String)
        /// A process on this machine.
        case local

        /// The address, or `local`.
        package var description: String {
            switch self {
            case .address(let text): text
            case .local: "local"
            }
        }
    }

    /// Creates a request.
    package init(
        method: String, target: String, fields: [HTTPField] = [], body: [UInt8] = [],
        fault: Fault? = nil, peer: Peer = .local
    ) {
        (self.method, self.target, self.fields) = (method, target, fields)
        (self.body, self.fault, self.peer) = (body, fault, peer)
    }
}
