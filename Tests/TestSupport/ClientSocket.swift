import Glibc

/// A connection to a listener: it sends bytes as they are, and reads what comes. Calls block the
/// thread.
package final class ClientSocket {
    private let socket: Descriptor
    private var reader = HTTPMessageReader()

    /// Connects to `127.0.0.1:PORT` or `unix:PATH`.
    package init(_ place: String) throws {
        if place.hasPrefix("unix:") {
            socket = try connectToSocket(String(place.dropFirst(5)))
        } else {
            socket = try connectToLoopback(port: Self.port(of: place))
        }
        // A server that never answers must fail the test, not hang it.
        var timeout = timeval(tv_sec: 100, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
    }

    /// Begins to connect to `127.0.0.1:PORT`, and does not wait for it.
    package init(beginningAt place: String) throws {
        socket = try beginConnecting(port: Self.port(of: place))
    }

    private static func port(of place: String) -> UInt16 {
        place.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }

    /// Sends a text; what the server no longer wants is lost.
    ///
    /// - Returns: whether the connection took all of it.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends bytes; what the server no longer wants is lost.
    ///
    /// - Returns: whether the connection took all of them.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes {
                Glibc.send(
                    socket.number, $0.baseAddress.map { $0 + done }, $0.count - done,
                    CInt(MSG_NOSIGNAL))
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            done += sent
        }
        return true
    }

    /// Sends a request and waits for its answer; nil if the connection ends before.
    package func ask(_ request: [UInt8]) -> HTTPMessage? {
        send(request)
        return reader.next(from: socket.number)
    }

    /// Whether the server has ended the connection; what came is thrown away.
    package var hasEnded: Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let got = recv(socket.number, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return got == 0 || got < 0 && errno != EAGAIN
    }

    /// Reads until the server ends the connection.
    package func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = recv(socket.number, &buffer, buffer.count, 0)
            guard got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }
}
