import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Testing

/// Requests that are sent again or to another place: only those that may be.
@Suite struct RepetitionTests {
    @Test func `redirects are returned and not followed`() async throws {
        try await RawServer.serving([.hold]) { other in
            let location = "Location: \(other.url)/auth/token"
            for status in [301, 302, 303, 307, 308] {
                let steps = [Step.readRequest, .answer(status, fields: [location]), .hold]
                try await RawServer.serving(steps) { server in
                    let answer = try await CurlTransport().post(server.url)
                    #expect(answer.status == status)
                    #expect(server.connectionCount == 1)
                }
            }
            #expect(other.connectionCount == 0)
        }
    }

    @Test func `connections are reused`() async throws {
        try await RawServer.serving([.readRequest, .answer(200), .again]) { server in
            let transport = try CurlTransport()
            for _ in 0..<3 { _ = try await transport.post(server.url) }
            #expect(server.connectionCount == 1)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [Step.close, .reset])
    func `a repeatable request is sent again if a reused connection is dead`(_ death: Step)
        async throws
    {
        try await RawServer.serving(
            [.readRequest, .answer(200), .readRequest, death], [.readRequest, .answer(201), .hold]
        ) { server in
            let transport = try CurlTransport()
            _ = try await transport.post(server.url)
            #expect(try await transport.post(server.url).status == 201)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [Step.close, .reset])
    func `a non-repeatable request is never sent twice`(_ death: Step) async throws {
        try await RawServer.serving(
            [.readRequest, .answer(200), .readRequest, death], [.readRequest, death]
        ) { server in
            let transport = try CurlTransport()
            _ = try await transport.post(server.url)
            let error = await transport.failure(of: server.url, isRepeatable: false)
            #expect(error?.kind == .cut)
            #expect(error?.requestMayHaveLeft == true)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a non-repeatable request is not sent over a connection that may be dead`()
        async throws
    {
        try await RawServer.serving([.readRequest, .answer(200), .again]) { server in
            let transport = try CurlTransport()
            for _ in 0..<3 { _ = try await transport.post(server.url, isRepeatable: false) }
            #expect(server.connectionCount == 3)
        }
    }
}
