internal import CMicroHTTPD
internal import Glibc
internal import Lifecycle

/// A client's connection, lent by libmicrohttpd for the length of a callback or, while
/// it is suspended, until it is resumed.
struct Connection: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    /// Every header field in the order it came.
    var fields: [HTTPField] {
        var fields: [HTTPField] = []
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = MHD_get_connection_values(
                pointer, .HEADER_KIND,
                { context, _, name, value in
                    guard let name else { return .YES }
                    let field = HTTPField(
                        String(cString: name), value.map { String(cString: $0) } ?? "")
                    context?.assumingMemoryBound(to: [HTTPField].self).pointee.append(field)
                    return .YES
                }, fields)
        }
        return fields
    }

    /// What this server knows of the connection; nil when there was no memory for it.
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

    /// Takes the connection away from libmicrohttpd's thread.
    func suspend() { MHD_suspend_connection(pointer) }

    /// Gives it back, from any thread; it must not be used afterwards.
    func resume() {
        // Asked for before: a connection that was resumed may end at any time.
        let loop = client?.loop
        MHD_resume_connection(pointer)
        loop?.wake()
    }

    /// Sends an answer, which libmicrohttpd shares and frees when it is sent.
    func queue(_ response: consuming OwnedResponse, status: Int) -> MHD_Result {
        MHD_queue_response(pointer, CUnsignedInt(status), response.pointer)
    }
}
