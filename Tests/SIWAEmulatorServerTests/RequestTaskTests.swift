import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import SIWAHTTPServer
import SIWALifecycle
import Synchronization
import Testing

/// The threads on which requests are answered.
struct RequestTaskTests {
    @Test func `a task that waited continues on the event loop's thread`() async throws {
        let socket = try ListeningSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let port = socket.port
        let threads = Threads()
        let server = try HTTPServer(socket) { _ in
            threads.note()
            return .later {
                threads.note()
                try? await Task.sleep(for: .milliseconds(2))
                threads.note()
                return ServerResponse(status: 204)
            }
        }
        let statuses = try await statuses(of: 20, to: port)
        await server.stop()
        #expect(statuses == [Int?](repeating: 204, count: 20))
        #expect(threads.count == 1)
    }

    @Test func `a promised response is made on the event loop's thread and may be sent from any`()
        async throws
    {
        let socket = try ListeningSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let port = socket.port
        let (threads, others) = (Threads(), Threads())
        let server = try HTTPServer(socket) { _ in
            threads.note()
            return .promised { reply in
                threads.note()
                let isDone = Mutex(false)
                reply.perform { isDone.withLock { $0 = true } }
                #expect(isDone.withLock { $0 })
                Thread {
                    others.note()
                    reply.perform {
                        threads.note()
                        Thread { reply.send(ServerResponse(status: 204)) }.start()
                    }
                }.start()
            }
        }
        let statuses = try await statuses(of: 20, to: port)
        await server.stop()
        #expect(statuses == [Int?](repeating: 204, count: 20))
        #expect(threads.count == 1)
        #expect(others.isDisjoint(with: threads))
    }

    @Test func `a promise that is not kept is dropped when the server stops`() async throws {
        let socket = try ListeningSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let port = socket.port
        let promised = Mutex<[ServerReply]>([])
        let server = try HTTPServer(socket) { _ in
            .promised { reply in promised.withLock { $0.append(reply) } }
        }
        let status = Task { try await statuses(of: 1, to: port) }
        while promised.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        await server.stop()
        await #expect(throws: URLError.self) { try await status.value }
        // Too late, and harmless; nothing that others may wait for is lost with the loop.
        let calls = Mutex(0)
        for reply in promised.withLock({ $0 }) {
            reply.send(ServerResponse(status: 204))
            reply.perform { calls.withLock { $0 += 1 } }
        }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test(.timeLimit(.minutes(1))) func `a task goes on if its client leaves and its loop ends`()
        async throws
    {
        let socket = try ListeningSocket.open(.anyLoopbackPort)
        let port = socket.port
        let (begun, ended) = (WakeSignal(), WakeSignal())
        let hasLeft = DispatchSemaphore(value: 0)
        let server = try HTTPServer(socket) { _ in
            begun.notify()
            hasLeft.wait()
            return .later {
                // Until after the loop's end.
                try? await Task.sleep(for: .milliseconds(100))
                ended.notify()
                return ServerResponse(status: 204)
            }
        }
        try await leave(port, after: begun) { server.stopAccepting() }
        hasLeft.signal()
        await ended.wait(after: 0)
        await server.stop()
    }

    /// Sends a request and resets the connection when it is being answered.
    private func leave(
        _ port: UInt16, after begun: WakeSignal, _ body: () -> Void
    ) async throws {
        // libmicrohttpd looks at the oldest connection before it notices that clients have left.
        let oldest = try RawClient(port: port)
        let client = try RawClient(port: port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait(after: 0)
        body()
        client.resetWhenClosed()
        oldest.resetWhenClosed()
    }

    private func statuses(of count: Int, to port: UInt16) async throws -> [Int?] {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        return try await withThrowingTaskGroup(of: Int?.self) { tasks in
            for _ in 0..<count {
                tasks.addTask {
                    let (_, answer) = try await URLSession.shared.data(from: url)
                    return (answer as? HTTPURLResponse)?.statusCode
                }
            }
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
    }
}

/// The threads on which something happened.
private final class Threads: Sendable {
    private let seen = Mutex<Set<pthread_t>>([])

    var count: Int { seen.withLock { $0.count } }

    func isDisjoint(with others: Threads) -> Bool {
        let other = others.seen.withLock { $0 }
        return seen.withLock { $0.isDisjoint(with: other) }
    }

    func note() {
        let own = pthread_self()
        seen.withLock { _ = $0.insert(own) }
    }
}
