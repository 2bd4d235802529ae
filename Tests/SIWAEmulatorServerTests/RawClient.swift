import Foundation
import Glibc
import Testing

/// A client that sends any bytes, and reads the answer.
struct RawClient: ~Copyable {
    private let descriptor: CInt

    /// Connects to this machine.
    ///
    /// - Parameter window: How many bytes the system takes that this client has not read.
    init(port: UInt16, window: CInt? = nil) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        if var window {
            let size = socklen_t(MemoryLayout<CInt>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &window, size)
        }
        // A server that never answers must fail the test, not hang it.
        var timeout = timeval(tv_sec: 100, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { close(descriptor) }

    /// Sends a text; what the server no longer wants is lost.
    borrowing func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Says that nothing more will be sent.
    borrowing func finishSending() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Has the connection reset, and not ended, when it is closed.
    borrowing func resetWhenClosed() {
        var value = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, size)
    }

    /// What has come so far, without waiting; nil once the server has ended the connection.
    borrowing func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let got = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        if got < 0, errno == EAGAIN { return [] }
        return got > 0 ? Array(buffer[..<got]) : nil
    }

    /// Reads until the server ends the connection.
    borrowing func readToEnd() -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = recv(descriptor, &buffer, buffer.count, 0)
            guard got > 0 else { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<got]
        }
    }

    /// Does blocking work on a thread of its own, away from those of tasks and URLSession.
    static func talk(
        to port: UInt16, _ body: @escaping @Sendable (borrowing RawClient) -> String
    ) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { body(try RawClient(port: port)) })
            }
        }
    }
}
