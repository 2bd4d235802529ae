import Glibc

/// An application that takes deliveries on 127.0.0.1, and counts them by their `webhook-id`.
package final class EventReceiver: Sendable {
    /// The status to answer to a delivery, from its id and its body.
    package typealias Judge = @Sendable (_ id: String, _ body: String) -> Int

    /// Where events are to be posted.
    package let url: String
    private let listener: Descriptor
    private let judge: Judge
    private let state = Locked(State())

    private struct State {
        var accepted: [String: Int] = [:]
        var refusedCount = 0
        var connections: [ObjectIdentifier: Descriptor] = [:]
    }

    /// Takes deliveries until its last owner is released.
    package init(_ judge: @escaping Judge = { _, _ in 204 }) throws {
        let port: UInt16
        (listener, port) = try listenOnLoopback()
        url = "http://127.0.0.1:\(port)/apple-events"
        self.judge = judge
        let listener = listener
        try startThread { [weak self] in
            while true {
                let number = Glibc.accept(listener.number, nil, nil)
                if number < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard number >= 0 else { return }
                let connection = Descriptor(owning: number)
                self?.add(connection)
                try? startThread { [weak self] in
                    EventReceiver.serve(connection) { self?.answer($0) }
                    self?.remove(connection)
                }
            }
        }
    }

    deinit {
        // Ends the blocking calls; each descriptor is closed by the thread that uses it.
        shutdown(listener.number, CInt(SHUT_RDWR))
        for connection in state.withLock({ $0.connections.values }) {
            shutdown(connection.number, CInt(SHUT_RDWR))
        }
    }

    /// How often each event was accepted, by its id.
    package var accepted: [String: Int] { state.withLock(\.accepted) }

    /// How many events were accepted.
    package var count: Int { state.withLock { $0.accepted.count } }

    /// How many deliveries were refused.
    package var refusedCount: Int { state.withLock(\.refusedCount) }

    private func add(_ connection: Descriptor) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
    }

    private func remove(_ connection: Descriptor) {
        state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    private func answer(_ message: HTTPMessage) -> Int {
        let id = message["webhook-id"] ?? ""
        let status = judge(id, String(decoding: message.body, as: UTF8.self))
        state.withLock { state in
            if (200..<300).contains(status) {
                state.accepted[id, default: 0] += 1
            } else {
                state.refusedCount += 1
            }
        }
        return status
    }

    /// Answers the requests of a connection until it is closed.
    private static func serve(_ connection: Descriptor, _ answer: (HTTPMessage) -> Int?) {
        var reader = HTTPMessageReader()
        while let message = reader.next(from: connection.number), let status = answer(message) {
            let text = "HTTP/1.1 \(status) Status\r\nContent-Length: 0\r\n\r\n"
            // The sender may have given up.
            let bytes = Array(text.utf8)
            guard send(connection.number, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
            else { return }
        }
    }
}
