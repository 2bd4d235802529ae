/// One thing a ``RawServer`` does on a connection.
package enum Step: Sendable {
    /// Reads a whole HTTP/1.1 request, its body by `Content-Length`, and records it.
    case readRequest
    /// Reads a request's header only, and records only the bytes.
    case readHead
    /// Reads this many bytes.
    case read(Int)
    /// Sends these bytes.
    case write([UInt8])
    /// Sends these bytes over and over until the client stops reading.
    case stream([UInt8])
    /// Waits, unless the client resets the connection.
    case pause(Duration)
    /// Reads and records all bytes, answers nothing, until the client goes away.
    case hold
    /// Connects to this port and carries bytes both ways until either side ends: a proxy.
    case tunnel(port: UInt16)
    /// Begins the script again: a connection that is kept.
    case again
    /// Ends the sending side (FIN), and goes on reading and recording until the client ends.
    case endSending
    /// Closes the socket: FIN, or RST when something that was sent is still unread.
    case close
    /// Ends the connection at once (RST).
    case reset
}

extension Step {
    /// Sends a text.
    package static func write(_ text: String) -> Step { .write(Array(text.utf8)) }

    /// Sends a complete answer.
    ///
    /// - Parameter fields: whole lines, such as `Retry-After: 1`.
    package static func answer(
        _ status: Int, _ body: String = "", type: String = "application/json", fields: [String] = []
    ) -> Step {
        answer(status, bytes: Array(body.utf8), type: type, fields: fields)
    }

    /// Sends a complete answer with a body of any bytes.
    package static func answer(
        _ status: Int, bytes: [UInt8], type: String = "application/json", fields: [String] = []
    ) -> Step {
        let lines =
            [
                "HTTP/1.1 \(status) Status", "Content-Type: \(type)",
                "Content-Length: \(bytes.count)",
            ]
            + fields
        return .write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + bytes)
    }
}
