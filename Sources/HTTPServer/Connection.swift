internal import CMicroHTTPD
internal import Glibc
internal import Lifecycle

/// A client's connection. It is valid during a callback of libmicrohttpd and, if it is suspended,
/// until it is resumed.
struct Connection: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    /// Every header field in the order received, and whether a client sent a NUL in one.
    var fields: (fields: [HTTPField], hasNUL: Bool) {
        var fields = ReceivedFields()
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = MHD_get_connection_values(
                pointer, .HEADER_KIND,
                { context, _, name, value in
                    context?.assumingMemoryBound(to: ReceivedFields.self).pointee
                        .append(name, value)
                    return .YES
                }, fields)
        }
        return (fields.fields, fields.isLastCut || fields.hasNUL)
    }

    /// The state of the connection; nil if memory was exhausted when it was opened.
    var client: ClientConnection? {
        siwa_connection_context(pointer).map {
            Unmanaged<ClientConnection>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// The connection's socket.
    var socket: CInt { siwa_connection_socket(pointer) }

    /// The client's address.
    var peer: ServerRequest.Peer {
        siwa_connection_address(pointer).flatMap { SocketAddress($0).text }
            .map { .address($0) } ?? .local
    }

    /// Stops libmicrohttpd's thread from working on the connection.
    func suspend() { MHD_suspend_connection(pointer) }

    /// Lets libmicrohttpd's thread continue, from any thread; do not use the connection afterwards.
    func resume() {
        // Read first: a resumed connection may be closed at any time.
        let loop = client?.loop
        MHD_resume_connection(pointer)
        loop?.wake()
    }

    /// Sends a response; libmicrohttpd retains it until it is sent.
    func queue(_ response: consuming OwnedResponse, status: Int) -> MHD_Result {
        MHD_queue_response(pointer, CUnsignedInt(status), response.pointer)
    }
}
