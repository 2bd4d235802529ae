import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Testing

/// Many requests at a time through one transport.
@Suite struct ParallelTests {
    @Test func `each of 200 parallel requests gets its own response`() async throws {
        try await RawServer.serving(script: { index in
            [.readRequest, .pause(.milliseconds(50)), .answer(200, "\(index)"), .hold]
        }) { server in
            let transport = try CurlTransport()
            let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<200 {
                    group.addTask { try await transport.post(server.url, isRepeatable: false).body }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(bodies.count == 200)
            #expect(server.requests.count == 200)
        }
    }

    @Test func `of 64 parallel requests, only those whose connection is cut fail`() async throws {
        let endings: [[Step]] = [
            [.answer(200, "{}"), .hold], [.close], [.reset],
            [.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), .reset],
            [.write("HTTP"), .close],
        ]
        try await RawServer.serving(script: { index in
            [.readRequest, .pause(.milliseconds(index % 7))] + endings[index % endings.count]
        }) { server in
            let transport = try CurlTransport()
            let results = await withTaskGroup(of: Result<Int, TransportError>.self) { group in
                for _ in 0..<64 { group.addTask { await attempt(transport, server.url) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // Every fifth of the 64 connections, the first included, is answered.
            #expect(results.count { (try? $0.get()) == 200 } == 13)
            #expect(server.requests.count == 64)
            for case .failure(let error) in results { #expect(error.requestMayHaveLeft) }
        }
    }

    @Test func `releasing a transport closes its connections`() async throws {
        try await RawServer.serving([.readRequest, .answer(200), .hold]) { server in
            for _ in 0..<50 { _ = try await CurlTransport().post(server.url) }
            try await eventually("all connections are closed") { server.endedCount == 50 }
        }
    }

    @Test func `an unused transport can be released`() throws {
        for _ in 0..<50 { _ = try CurlTransport() }
    }
}

private func attempt(_ transport: CurlTransport, _ url: String) async -> Result<Int, TransportError>
{
    do throws(TransportError) {
        return .success(try await transport.post(url, isRepeatable: false).status)
    } catch {
        return .failure(error)
    }
}
