import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// Bytes that no honest client sends, and what the answer must contain.
struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: String
    let expected: [String]

    init(_ name: String, _ bytes: String, _ expected: String...) {
        testDescription = name
        self.bytes = bytes
        self.expected = expected
    }
}

@Suite struct HostileInputTests {
    private static let type = "Content-Type: application/x-www-form-urlencoded\r\n"

    static let rows = [
        Hostile("HTTP/1.0", "GET /auth/keys HTTP/1.0\r\n\r\n", "200 OK", #"{"keys":["#),
        Hostile(
            "pipelined",
            "GET /auth/keys HTTP/1.1\r\nHost: x\r\n\r\n"
                + "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK", #"{"keys":["#, "HTTP/1.1 404 Not Found"),
        Hostile(
            "chunked",
            "POST /auth/token HTTP/1.1\r\nHost: x\r\n\(type)Connection: close\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n6\r\ngrant_\r\n6\r\ntype=x\r\n0\r\n\r\n",
            "400 Bad Request", #"{"error":"unsupported_grant_type"}"#),
        Hostile(
            "bad percent encoding",
            "POST /auth/token HTTP/1.1\r\nHost: x\r\n\(type)Connection: close\r\n"
                + "Content-Length: 4\r\n\r\na=%z", #"{"error":"invalid_request"}"#),
        Hostile("half a request line", "GET /auth/ke"),
        Hostile("half a header section", "GET /auth/keys HTTP/1.1\r\nHost: x\r\n"),
        Hostile(
            "half a body",
            "POST /auth/token HTTP/1.1\r\nHost: x\r\n\(type)Content-Length: 100\r\n\r\ngrant"),
        Hostile("no HTTP at all", "\u{16}\u{3}\u{1}\u{0}\r\n\r\n"),
        Hostile(
            "a header section too large",
            "GET /auth/keys HTTP/1.1\r\nHost: x\r\nX: "
                + String(repeating: "a", count: 100_000) + "\r\n\r\n"),
    ]

    @Test(arguments: rows) func `the server answers hostile input and keeps running`(_ row: Hostile)
        async throws
    {
        try await Served.run { served in
            let text = try await RawClient.talk(to: served.port) { client in
                client.send(row.bytes)
                // Half a request need not be answered: the client goes away.
                guard !row.expected.isEmpty else { return "" }
                client.finishSending()
                return client.readToEnd()
            }
            for part in row.expected { #expect(text.contains(part), "\(text)") }
            #expect(try await served.send("GET", "/auth/keys").status == 200, "still serving")
        }
    }

    @Test func `a body of more than 1 MiB is read and refused`() async throws {
        try await Served.run { served in
            let size = 3 << 20
            let text = try await RawClient.talk(to: served.port) { client in
                client.send("POST /auth/token HTTP/1.1\r\nHost: x\r\n\(Self.type)")
                client.send("Connection: close\r\nContent-Length: \(size)\r\n\r\n")
                client.send(String(repeating: "a", count: size))
                return client.readToEnd()
            }
            #expect(text.hasPrefix("HTTP/1.1 413 "))
            #expect(text.hasSuffix(#"{"error":"invalid_request"}"#))
            let log = try await served.emulator.control("requests")["requests"]?.elements
            #expect(log?.last?["verdict"] == "body: longer than 1048576 bytes")
        }
    }

    @Test func `open connections do not keep the server from stopping`() async throws {
        try await Served.run { served in
            let idle = try RawClient(port: served.port)
            let half = try RawClient(port: served.port)
            half.send("POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab")
            #expect(try await served.send("GET", "/auth/keys").status == 200)
            _ = consume idle
            _ = consume half
        }
    }

    @Test(arguments: [
        ("no_answer", ""), ("before_body", "\r\n\r\n"), ("mid_body", "\r\n\r\n{\"keys\":[{"),
    ])
    func `a fault cuts the connection at the requested point`(_ cut: String, _ end: String)
        async throws
    {
        try await Served.run { served in
            try await served.control("faults", ["cut": .string(cut)])
            let text = try await RawClient.talk(to: served.port) { client in
                client.send("GET /auth/keys HTTP/1.1\r\nHost: x\r\n\r\n")
                return client.readToEnd()
            }
            #expect(text.contains("Content-Length: ") == (cut != "no_answer"))
            #expect(text.contains(end) && !text.hasSuffix("]}"))
            if cut == "before_body" { #expect(text.hasSuffix(end)) }
            if cut == "no_answer" { #expect(text.isEmpty) }
        }
    }

    @Test func `a response without a body can be cut as well`() async throws {
        try await Served.run { served in
            try await served.control("faults", ["cut": "before_body"])
            let form = "client_id=x&client_secret=y&token=z"
            await #expect(throws: (any Error).self) {
                try await served.send("POST", "/auth/revoke", body: form)
            }
        }
    }
}
