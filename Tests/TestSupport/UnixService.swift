import Glibc

/// A service behind a Unix socket, which serves each connection on a thread of its own.
package final class UnixService: Sendable {
    /// The path of its socket.
    package let path: String
    private let listener: Descriptor

    /// Serves until ``stop()``.
    ///
    /// - Parameter serve: receives each connection, which is closed afterwards.
    package init(
        at path: String, _ serve: @escaping @Sendable (ServiceConnection) throws -> Void
    ) throws {
        self.path = path
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let listener = Descriptor(owning: try checked("socket") { socket(AF_UNIX, type, 0) })
        self.listener = listener
        try withUnixAddress(path) { address, length in
            _ = try checked("bind") { bind(listener.number, address, length) }
        }
        _ = try checked("listen") { listen(listener.number, 16) }
        try startThread {
            while true {
                let number = accept(listener.number, nil, nil)
                guard number >= 0 else { return }
                let connection = ServiceConnection(Descriptor(owning: number))
                try? startThread { try? serve(connection) }
            }
        }
    }

    deinit { stop() }

    /// Accepts no more connections, and removes the socket.
    package func stop() {
        shutdown(listener.number, CInt(SHUT_RDWR))
        unlink(path)
    }
}

/// A connection to a ``UnixService``.
package final class ServiceConnection: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Reads until what was read is whole, or the other side has closed.
    package func read(until isWhole: ([UInt8]) -> Bool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !isWhole(bytes) {
            let count = try checked("recv") { recv(descriptor.number, &chunk, chunk.count, 0) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
        return bytes
    }

    package func write(_ bytes: [UInt8]) throws {
        _ = try checked("send") {
            send(descriptor.number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        }
    }
}
