import SIWATestSupport
import Testing

/// A hostile server must not make siwa use much time or memory.
@Suite struct CostTests {
    static let slowServers: [(String, [Step])] = [
        ("never accepts the request's end", [.hold]),
        ("never answers", [.readRequest, .hold]),
        ("stops in the header", [.readRequest, .write("HTTP/1.1 200 OK\r\nA: "), .hold]),
        (
            "stops in the body",
            [.readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), .hold]
        ),
        (
            "ends its side after a 100",
            [.readRequest, .write("HTTP/1.1 100 Continue\r\n\r\n"), .hold]
        ),
    ]

    @Test(arguments: slowServers)
    func `waiting takes no processor time`(_ name: String, _ steps: [Step]) async throws {
        let siwa = try Siwa()
        let start = try await siwa.run(.init(["public-key"], environment: siwa.environment))
        try await RawServer.serving(steps) { server in
            let result = try await siwa.run(siwa.refresh(server.url, timeout: "2s"))
            #expect(result.ending == .exit(75), "\(result)")
            // A loop that does not sleep takes all it gets: the two seconds, or its share of them.
            #expect(result.processorTime - start.processorTime < .milliseconds(150))
        }
    }

    @Test func `a response of two gigabytes is read in less memory than that`() async throws {
        let siwa = try Siwa()
        let endless: [Step] = [
            .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 2147483647\r\n\r\n"),
            .stream([UInt8](repeating: 32, count: 1 << 20)),
        ]
        try await RawServer.serving(endless) { server in
            var call = siwa.refresh(server.url, "--max-attempts", "1")
            // The peak that the system counts includes the tester's own, so: a limit.
            let script = "ulimit -v 1000000; exec \"$0\" \"$@\""
            call.arguments = ["-c", script, siwa.executable.path] + call.arguments
            let result = try await Executable(path: "/bin/sh").run(call)
            #expect(result.ending == .exit(75), "\(result)")
            #expect(result.errors.contains("siwa: too_large: "), "\(result)")
        }
    }
}
