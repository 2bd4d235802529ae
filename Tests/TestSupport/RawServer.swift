import Glibc

/// A server on 127.0.0.1 that runs a script for each connection, and records all received bytes.
package final class RawServer: Sendable {
    /// The port the system chose.
    package let port: UInt16
    private let listener: Descriptor
    private let script: @Sendable (Int) -> [Step]
    private let connections = Locked<[RawConnection]>([])

    /// Serves while `body` runs.
    ///
    /// - Parameters:
    ///   - scripts: the first for the first connection, and so on; the last for all others.
    package static func serving<Result>(
        _ scripts: [Step]..., body: (RawServer) async throws -> Result
    ) async throws -> Result {
        try await serving(script: { scripts[min($0, scripts.count - 1)] }, body: body)
    }

    /// Serves while `body` runs.
    ///
    /// - Parameter script: what to do to a connection; the first has the number 0.
    package static func serving<Result>(
        script: @escaping @Sendable (Int) -> [Step], body: (RawServer) async throws -> Result
    ) async throws -> Result {
        let server = try RawServer(script)
        defer { server.stop() }
        return try await body(server)
    }

    private init(_ script: @escaping @Sendable (Int) -> [Step]) throws {
        (listener, port) = try listenOnLoopback()
        self.script = script
        try startThread { self.accept() }
    }

    /// `http://127.0.0.1:` and the port.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// How many connections were opened.
    package var connectionCount: Int { connections.withLock(\.count) }

    /// The requests that were read whole, connection by connection.
    package var requests: [RawRequest] { connections.withLock { $0.flatMap(\.requests) } }

    /// All bytes that were read, connection by connection.
    package var received: [[UInt8]] { connections.withLock { $0.map(\.received) } }

    /// How many bytes were sent, over all connections.
    package var sentCount: Int { connections.withLock { $0.reduce(0) { $0 + $1.sentCount } } }

    /// How many connections have ended, on whichever side.
    package var endedCount: Int { connections.withLock { $0.count { $0.hasEnded } } }

    /// All bytes that were read, as text.
    package var receivedText: String {
        received.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }

    private func stop() {
        // Ends the blocking calls; each descriptor is closed by the thread that uses it.
        shutdown(listener.number, CInt(SHUT_RDWR))
        connections.withLock { for connection in $0 { connection.shutDown() } }
    }

    private func accept() {
        while true {
            let number = Glibc.accept(listener.number, nil, nil)
            guard number >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            let connection = RawConnection(Descriptor(owning: number))
            let index = connections.withLock { connections in
                connections.append(connection)
                return connections.count - 1
            }
            let steps = script(index)
            try? startThread { connection.perform(steps) }
        }
    }
}
