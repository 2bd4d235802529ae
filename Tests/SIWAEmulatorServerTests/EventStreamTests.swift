import SIWAEmulator
import SIWAHTTPServer
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The console's events over sockets: readers that stay connected, disconnect, and do not read.
@Suite struct EventStreamTests {
    private static let limit = 32

    /// Requests with long rows, as a browser sees them.
    private static func cause(_ count: Int, at served: Served) async {
        let long = String(repeating: "x", count: 200)
        for _ in 0..<count {
            _ = await served.emulator.respond(
                to: EmulatorRequest(
                    method: "POST", target: "/auth/token",
                    fields: [HTTPField("Content-Type", Form.contentType)],
                    body: Array("grant_type=\(long)&client_id=\(long)".utf8)))
        }
    }

    @Test func `32 readers are served, and the next one gets a Retry-After until one leaves`()
        async throws
    {
        try await Served.run { served in
            var streams = try (0..<Self.limit).map { _ in try EventStream(port: served.port) }
            for stream in streams {
                #expect(try await stream.status() == "HTTP/1.1 200 OK")
            }
            let refused = try EventStream(port: served.port)
            try await refused.read("a refusal") { $0.contains("\r\n\r\n") }
            #expect(refused.text.hasPrefix("HTTP/1.1 503 "))
            #expect(refused.text.contains("\r\nRetry-After: 10\r\n"))
            await Self.cause(1, at: served)
            for stream in streams {
                try await stream.read("the request") { $0.contains("event: requests") }
            }
            streams = []
            try await eventually("a free place") {
                // A closed connection is detected by the next write.
                await Self.cause(1, at: served)
                let stream = try EventStream(port: served.port)
                return try await stream.status() == "HTTP/1.1 200 OK"
            }
        }
    }

    @Test func `a reader that does not read is disconnected and does not delay the others`()
        async throws
    {
        try await Served.run { served in
            let silent = try EventStream(port: served.port, window: 4096)
            var readers = try (1..<Self.limit).map { _ in try EventStream(port: served.port) }
            for reader in readers { #expect(try await reader.status() == "HTTP/1.1 200 OK") }
            var sent = 0
            // First the buffers between the two must fill, then the idle timeout passes. Under the
            // thread sanitizer, that takes longer than the usual limit.
            try await eventually("the end of the silent stream", limit: .seconds(600)) {
                await Self.cause(50, at: served)
                sent += 50
                for reader in readers {
                    try await reader.read("request \(sent)") { $0.contains("\nid: \(sent)\n") }
                    reader.clear()
                }
                let next = try EventStream(port: served.port)
                return try await next.status() == "HTTP/1.1 200 OK"
            }
            readers.removeAll { !$0.hasEnded }
            #expect(readers.isEmpty && !silent.hasEnded)
        }
    }

    @Test func `a stream without events is not closed by the idle timeout`() async throws {
        try await Served.run { served in
            let stream = try EventStream(port: served.port)
            // The status has a clock: it is sent again with every heartbeat.
            try await stream.read("the panels and more than 15 seconds of heartbeats") {
                $0.matches(of: /"panel":"status"|: heartbeat/).count >= 4
            }
            #expect(!stream.hasEnded)
        }
    }

    @Test func `a server with open streams can be stopped`() async throws {
        var streams: [EventStream] = []
        try await Served.run { served in
            for _ in 0..<5 { streams.append(try EventStream(port: served.port)) }
            for stream in streams { #expect(try await stream.status() == "HTTP/1.1 200 OK") }
        }
        for stream in streams {
            try await stream.read("the end") { _ in false }
            #expect(stream.hasEnded)
        }
    }

    /// The thread that cancels a task and the one that resumes it must not wait for each other.
    @Test func `a server can be stopped at any moment of a stream`() async throws {
        for _ in 0..<100 {
            let socket = try ListeningSocket.open(.anyLoopbackPort)
            let port = socket.port
            let begun = WakeSignal()
            let server = try HTTPServer(socket) { _ in
                let body = ServerResponse.Body.stream { writer in
                    begun.notify()
                    while await writer.write([0x2E]) {}
                }
                return .now(ServerResponse(status: 200, body: body))
            }
            async let texts = withThrowingTaskGroup(of: String.self) { readers in
                for _ in 0..<8 {
                    readers.addTask {
                        try await RawClient.talk(to: port) { client in
                            client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                            return client.readToEnd()
                        }
                    }
                }
                return try await readers.reduce(into: []) { $0.append($1) }
            }
            for count in 0..<8 { await begun.wait(after: count) }
            await server.stop()
            #expect(try await texts.count == 8)
        }
    }
}
