import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Testing

/// Cancelled requests leave nothing behind.
@Suite struct CancellationTests {
    @Test func `cancelling a hanging request returns immediately and closes its connection`()
        async throws
    {
        try await RawServer.serving([.readRequest, .hold]) { server in
            let transport = try CurlTransport()
            let task = Task { await transport.failure(of: server.url, timeout: .seconds(600)) }
            try await eventually("the request is there") { server.requests.count == 1 }
            task.cancel()
            let error = await task.value
            #expect(error?.kind == .cancelled)
            #expect(error?.requestMayHaveLeft == true)
            try await eventually("the connection is closed") { server.endedCount == 1 }
        }
    }

    @Test func `a task that is already cancelled sends nothing`() async throws {
        try await RawServer.serving([.readRequest, .hold]) { server in
            let transport = try CurlTransport()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return await transport.failure(of: server.url)
            }
            task.cancel()
            let error = await task.value
            #expect(error?.kind == .cancelled)
            #expect(error?.requestMayHaveLeft == false)
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `a request that was cancelled before it connected was not sent`() async throws {
        let port = try SilentPort()
        let transport = try CurlTransport()
        let task = Task { await transport.failure(of: port.url) }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let error = await task.value
        #expect(error?.kind == .cancelled)
        #expect(error?.requestMayHaveLeft == false)
    }

    /// libcurl's handles are recycled memory: a late cancellation must not affect the next request
    /// at the same address.
    @Test func `a late cancellation does not affect another request`() async throws {
        try await RawServer.serving([.readRequest, .answer(200, "{}"), .again]) { server in
            let transport = try CurlTransport()
            for _ in 0..<200 {
                let cancelled = Task { try? await transport.post(server.url) }
                let kept = Task { () async throws(TransportError) in
                    _ = await cancelled.value
                    return try await transport.post(server.url).status
                }
                cancelled.cancel()
                let status = await kept.result
                #expect(throws: Never.self) { try status.get() }
            }
        }
    }

    /// The job that a cancellation runs can be the last to know the transport: for the
    /// address sanitizer to look at.
    @Test func `a transport can be released immediately after a cancellation`() async throws {
        try await RawServer.serving([.readRequest, .hold]) { server in
            for round in 0..<100 {
                let task = Task { try? await CurlTransport().post(server.url) }
                if round.isMultiple(of: 2) {
                    try await eventually("the client is connected") {
                        server.connectionCount > round / 2
                    }
                }
                task.cancel()
                _ = await task.value
            }
        }
    }

    @Test func `cancelling many of many requests does not affect the others`() async throws {
        try await RawServer.serving([.readRequest, .pause(.milliseconds(20)), .answer(200), .again])
        { server in
            let transport = try CurlTransport()
            let tasks = (0..<60).map { _ in Task { try await transport.post(server.url).status } }
            for index in stride(from: 0, to: 60, by: 2) { tasks[index].cancel() }
            for index in stride(from: 1, to: 60, by: 2) {
                #expect(try await tasks[index].value == 200)
            }
            for task in tasks { _ = await task.result }
        }
    }
}
