internal import Glibc
internal import SIWACMicroHTTPD
internal import SIWAJOSE
internal import SIWALifecycle

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

    /// Writes the connection's last response directly to its socket, because libmicrohttpd sends
    /// none before the end of a body. The connection must not use TLS. libmicrohttpd may still read
    /// from the client. If the response is incomplete, or the client does not read, nothing more
    /// can be sent or received.
    func end(with response: ServerResponse) {
        let bytes = response.lastMessage ?? []
        let sent = bytes.withUnsafeBytes {
            send(socket, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        }
        let isSent = !bytes.isEmpty && sent == bytes.count
        shutdown(socket, CInt(isSent ? SHUT_WR : SHUT_RDWR))
    }
}

extension ServerResponse {
    /// The response as the last message of a connection (RFC 9112); nil unless its body is whole.
    fileprivate var lastMessage: [UInt8]? {
        guard case .bytes(let body) = body else { return nil }
        let reason = MHD_get_reason_phrase_for(CUnsignedInt(status)).map { String(cString: $0) }
        var added = [
            HTTPField("Content-Length", String(body.count)), HTTPField("Connection", "close"),
        ]
        if fields["date"] == nil {
            added.append(HTTPField("Date", NumericDate(time(nil)).httpDate))
        }
        let lines = (fields + added).map { "\($0.name): \($0.value)\r\n" }
        return Array("HTTP/1.1 \(status) \(reason ?? "")\r\n\(lines.joined())\r\n".utf8) + body
    }
}
