import Dispatch
import Foundation
import SIWAHTTPServer
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

/// Responses to requests that arrive together.
@Suite struct SimultaneousRequestTests {
    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `each of several clients gets its own response, also if it sends nothing more`(
        _ mustWait: Bool
    ) async throws {
        let together = try Together { request in
            let body = ServerResponse.Body.bytes(Array("<\(request.target)>".utf8))
            let response = ServerResponse(status: 200, body: body)
            guard mustWait else { return .now(response) }
            return .later {
                try? await Task.sleep(for: .milliseconds(20))
                return response
            }
        }
        let texts = try await together.texts(finishingSending: true)
        await together.server.stop()
        for (index, text) in texts.enumerated() { #expect(text.hasSuffix("\r\n\r\n</\(index)>")) }
    }

    /// Of eight requests, the third waits, and the server is stopped during the fourth.
    @Test(.timeLimit(.minutes(1))) func `a response that is ready when the server stops is sent`()
        async throws
    {
        let begun = Atomic(0)
        let waiting = Mutex<ServerReply?>(nil)
        let ownServer = Mutex<HTTPServer?>(nil)
        let stop = Mutex<Task<Void, Never>?>(nil)
        let together = try Together { _ in
            switch begun.add(1, ordering: .relaxed).newValue {
            case 3: .promised { reply in waiting.withLock { $0 = reply } }
            case 4:
                .promised { reply in
                    let isStopping = DispatchSemaphore(value: 0)
                    let server = ownServer.withLock { exchange(&$0, with: nil) }
                    stop.withLock {
                        $0 = Task {
                            isStopping.signal()
                            await server?.stop()
                        }
                    }
                    isStopping.wait()
                    // Until the server begins no more requests, unless the machine is busy.
                    Thread.sleep(forTimeInterval: 0.05)
                    let first = waiting.withLock { exchange(&$0, with: nil) }
                    first?.send(ServerResponse(status: 204))
                    reply.send(ServerResponse(status: 204))
                    // Until the loop is to end.
                    Thread.sleep(forTimeInterval: 0.05)
                }
            default: .now(ServerResponse(status: 204))
            }
        }
        ownServer.withLock { $0 = together.server }
        let texts = try await together.texts()
        await stop.withLock { $0 }?.value
        let count = texts.count { $0.hasPrefix("HTTP/1.1 204 ") }
        #expect(count >= 4)
        #expect(count == begun.load(ordering: .relaxed))
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

    init(_ respond: @escaping @Sendable (ServerRequest) -> ServerAnswer) throws {
        let socket = try ListeningSocket.open(.anyLoopbackPort)
        port = socket.port
        server = try HTTPServer(socket) { [arrival, hasBegun] request in
            guard request.target == "/first" else { return respond(request) }
            hasBegun.notify()
            arrival.wait()
            return .now(ServerResponse(status: 204))
        }
    }

    /// What the server sends to each client.
    func texts(finishingSending: Bool = false) async throws -> [String] {
        // The oldest connection, for which libmicrohttpd does something before it looks at the others.
        let idle = try RawClient(port: port)
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
        let result = try await texts
        _ = idle.receive()
        return result
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
