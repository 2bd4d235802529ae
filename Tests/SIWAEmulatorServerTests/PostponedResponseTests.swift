import Dispatch
import Foundation
import SIWAHTTPServer
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

/// Responses that are ready at once, to requests that arrive together.
@Suite struct PostponedResponseTests {
    @Test func `each of several clients gets its own response, also if it sends nothing more`()
        async throws
    {
        let together = try Together { request in
            ServerResponse(status: 200, body: .bytes(Array("<\(request.target)>".utf8)))
        }
        let texts = try await together.texts(finishingSending: true)
        await together.server.stop()
        for (index, text) in texts.enumerated() { #expect(text.hasSuffix("\r\n\r\n</\(index)>")) }
    }

    @Test func `a response that is ready when the server stops is sent`() async throws {
        let answered = Atomic(0)
        let stopping = Mutex<Task<Void, Never>?>(nil)
        let ownServer = Mutex<HTTPServer?>(nil)
        let together = try Together { _ in
            if answered.add(1, ordering: .relaxed).newValue == Together.width / 2 {
                let server = ownServer.withLock { $0 }
                stopping.withLock { $0 = Task { await server?.stop() } }
                // Until it begins no more requests.
                Thread.sleep(forTimeInterval: 0.1)
            }
            return ServerResponse(status: 204)
        }
        ownServer.withLock { $0 = together.server }
        let texts = try await together.texts()
        await stopping.withLock { $0 }?.value
        ownServer.withLock { $0 = nil }
        let count = texts.count { $0.hasPrefix("HTTP/1.1 204 ") }
        #expect(count == answered.load(ordering: .relaxed))
        #expect((Together.width / 2..<Together.width).contains(count))
    }
}

/// A server whose first request lasts until all others have arrived.
private final class Together: Sendable {
    /// No more than libmicrohttpd accepts at once.
    static let width = 8

    let server: HTTPServer
    private let port: UInt16
    private let arrival = DispatchSemaphore(value: 0)
    private let hasBegun = WakeSignal()

    init(_ respond: @escaping @Sendable (ServerRequest) -> ServerResponse) throws {
        let socket = try ListeningSocket.open(.anyLoopbackPort)
        port = socket.port
        server = try HTTPServer(socket) { [arrival, hasBegun] request in
            guard request.target == "/first" else { return .now(respond(request)) }
            hasBegun.notify()
            arrival.wait()
            return .now(ServerResponse(status: 204))
        }
    }

    /// What the server sends to each client.
    func texts(finishingSending: Bool = false) async throws -> [String] {
        async let first = Self.text(of: "/first", from: port, finishingSending)
        await hasBegun.wait(after: 0)
        let sent = WakeSignal()
        async let texts = withThrowingTaskGroup(of: (Int, String).self) { clients in
            for index in 0..<Self.width {
                clients.addTask { [port] in
                    let text = try await Self.text(
                        of: "/\(index)", from: port, finishingSending, sent)
                    return (index, text)
                }
            }
            return try await clients.reduce(into: [String](repeating: "", count: Self.width)) {
                $0[$1.0] = $1.1
            }
        }
        for count in 0..<Self.width { await sent.wait(after: count) }
        arrival.signal()
        _ = try await first
        return try await texts
    }

    private static func text(
        of target: String, from port: UInt16, _ finishesSending: Bool, _ sent: WakeSignal? = nil
    ) async throws -> String {
        try await RawClient.talk(to: port) { client in
            client.send("GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            if finishesSending { client.finishSending() }
            sent?.notify()
            return client.readToEnd()
        }
    }
}
