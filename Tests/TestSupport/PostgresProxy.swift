import Glibc

/// A proxy on 127.0.0.1 in front of a PostgreSQL server's Unix socket, which can stop answering:
/// from a chosen moment on, it accepts data from the client and forwards nothing.
package final class PostgresProxy: Sendable {
    /// What the client sends before the proxy stops.
    package enum Stop: Sendable {
        /// Never.
        case never
        /// The COMMIT of the `count`-th transaction that contains `text`, which the server does
        /// not see.
        case beforeCommit(of: String, count: Int)
        /// The same COMMIT; the server sees it, the client does not see its answer.
        case afterCommit(of: String, count: Int)
    }

    /// The port the system chose.
    package let port: UInt16
    private let listener: Descriptor
    private let socketPath: String
    private let stop: Stop
    private let state = Locked(State())

    fileprivate struct State {
        var connections: [(client: Descriptor, server: Descriptor)] = []
        var watch = CommitWatch()
        var isMute = false
    }

    /// Serves until the object is released.
    package init(_ server: PostgresServer, _ stop: Stop) throws {
        (listener, port) = try listenOnLoopback()
        (socketPath, self.stop) = (server.socketPath, stop)
        let (listener, state) = (listener, state)
        let path = socketPath
        try startThread {
            while let client = Self.accept(listener) {
                guard let server = try? connectToSocket(path) else { continue }
                state.withLock { $0.connections.append((client, server)) }
                try? startThread { Self.carry(client, server, stop, state) }
            }
        }
    }

    deinit {
        shutdown(listener.number, CInt(SHUT_RDWR))
        state.withLock { state in
            for (client, server) in state.connections {
                shutdown(client.number, CInt(SHUT_RDWR))
                shutdown(server.number, CInt(SHUT_RDWR))
            }
        }
    }

    /// The URL of a database behind it.
    package func url(_ database: String) -> String {
        "postgresql://siwa@127.0.0.1:\(port)/\(database)"
    }

    /// Whether it has stopped answering.
    package var hasStopped: Bool { state.withLock(\.isMute) }

    private static func accept(_ listener: Descriptor) -> Descriptor? {
        let number = Glibc.accept(listener.number, nil, nil)
        return number < 0 ? nil : Descriptor(owning: number)
    }

    /// False if the other side has closed the connection.
    private static func send(_ bytes: [UInt8], to other: Descriptor) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(other.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    private static func carry(
        _ client: Descriptor, _ server: Descriptor, _ stop: Stop, _ state: Locked<State>
    ) {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var watched = [client, server].map {
            pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
        }
        while poll(&watched, 2, -1) > 0 {
            for index in 0...1 where watched[index].revents != 0 {
                let got = recv(watched[index].fd, &chunk, chunk.count, 0)
                // The server's side stays open after the client's connection was closed.
                guard got > 0 else { return }
                let bytes = Array(chunk[..<got])
                let passes = state.withLock { state in
                    if index == 0 { state.look(at: bytes, stop) } else { !state.isMute }
                }
                guard !passes || send(bytes, to: index == 0 ? server : client) else { return }
            }
        }
    }
}

extension PostgresProxy.State {
    /// Whether what the client sent goes on to the server.
    fileprivate mutating func look(at bytes: [UInt8], _ stop: PostgresProxy.Stop) -> Bool {
        guard !isMute else { return false }
        switch stop {
        case .never: return true
        case .beforeCommit(let text, let count):
            isMute = watch.isCommit(bytes, of: text) && watch.commits == count
            return !isMute
        case .afterCommit(let text, let count):
            isMute = watch.isCommit(bytes, of: text) && watch.commits == count
            return true
        }
    }
}

/// Recognises COMMIT in what a client sends: as SQL when it is prepared, then by its name.
private struct CommitWatch {
    private var names: Set<[UInt8]> = []
    private var isInside = false
    private var textNames: Set<[UInt8]> = []
    private(set) var commits = 0

    /// Whether these bytes run the COMMIT of a transaction in which a statement containing `text`
    /// ran.
    mutating func isCommit(_ bytes: [UInt8], of text: String) -> Bool {
        var isCommit = false
        for message in Self.messages(bytes) {
            let parts = message.body.split(separator: 0, omittingEmptySubsequences: false)
            switch message.type {
            case UInt8(ascii: "P") where parts.count > 1:
                let sql = String(decoding: parts[1], as: UTF8.self)
                if sql == "COMMIT" { names.insert(Array(parts[0])) }
                if sql.contains(text) { textNames.insert(Array(parts[0])) }
            case UInt8(ascii: "B") where parts.count > 1:
                let name = Array(parts[1])
                if textNames.contains(name) { isInside = true }
                if names.contains(name), isInside { (isCommit, isInside) = (true, false) }
            default: break
            }
        }
        if isCommit { commits += 1 }
        return isCommit
    }

    /// The messages in a chunk that begins with one (PostgreSQL's documentation, "Message
    /// Formats"); the first message of a connection has no type, and nothing is found in it.
    private static func messages(_ bytes: [UInt8]) -> [(type: UInt8, body: ArraySlice<UInt8>)] {
        var messages: [(UInt8, ArraySlice<UInt8>)] = []
        var rest = bytes[...]
        while rest.count >= 5, let type = rest.first, type != 0 {
            let length = rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard length >= 4, rest.count > length else { break }
            messages.append((type, rest.dropFirst(5).prefix(length - 4)))
            rest = rest.dropFirst(1 + length)
        }
        return messages
    }
}
