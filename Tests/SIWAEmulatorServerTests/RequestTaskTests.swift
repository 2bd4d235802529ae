import Foundation
import FoundationNetworking
import Glibc
import SIWAHTTPServer
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
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        let statuses = try await withThrowingTaskGroup(of: Int?.self) { tasks in
            for _ in 0..<20 {
                tasks.addTask {
                    let (_, answer) = try await URLSession.shared.data(from: url)
                    return (answer as? HTTPURLResponse)?.statusCode
                }
            }
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
        await server.stop()
        #expect(statuses == [Int?](repeating: 204, count: 20))
        #expect(threads.count == 1)
    }
}

/// The threads on which something happened.
private final class Threads: Sendable {
    private let seen = Mutex<Set<pthread_t>>([])

    var count: Int { seen.withLock { $0.count } }

    func note() {
        let own = pthread_self()
        seen.withLock { _ = $0.insert(own) }
    }
}
