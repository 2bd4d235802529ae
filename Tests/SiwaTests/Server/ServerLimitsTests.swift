import Foundation
import Glibc
import SIWAJOSE
import SIWATestSupport
import Testing

/// Clients that send too slowly, too much, or bytes that are not HTTP.
@Suite struct ServerLimitsTests {
    @Test func `a slow client is disconnected without a response, and others are served meanwhile`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let place = try server.place("notifications")
        let head = "POST /apple/notifications HTTP/1.1\r\nHost: x\r\n"
        let slow = try (0..<wished("SIWA_SERVER_SLOW", usual: 100)).map { number in
            let socket = try ClientSocket(place)
            socket.send(number % 2 == 0 ? head : "\(head)Content-Length: 60000\r\n\r\n{")
            return socket
        }
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        try await eventually("all slow connections are closed") {
            let status = try await server.post(body).status
            #expect(status == 200)
            // An occasional byte does not extend the time.
            for socket in slow { socket.send("a") }
            return slow.allSatisfy(\.hasEnded)
        }
    }

    /// A request that no handler may see. Test events have its name, not two megabytes.
    struct BadRequest: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: String
        var body = ""
        let status: Int
    }

    @Test(arguments: [
        BadRequest(
            testDescription: "two lengths", fields: "Content-Length: 2\r\nContent-Length: 2\r\n",
            body: "{}", status: 400),
        BadRequest(
            testDescription: "length and chunks",
            fields: "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
            body: "2\r\n{}\r\n0\r\n\r\n", status: 400),
        BadRequest(
            testDescription: "2 MB announced", fields: "Content-Length: 2000000\r\n", body: "{",
            status: 413),
        BadRequest(
            testDescription: "2^63 bytes announced",
            fields: "Content-Length: 9223372036854775808\r\n", body: "{", status: 413),
        BadRequest(
            testDescription: "2 MiB in a chunk", fields: "Transfer-Encoding: chunked\r\n",
            body: "200000\r\n\(String(repeating: "a", count: 0x200000))\r\n0\r\n\r\n", status: 413),
        BadRequest(
            testDescription: "17,000 bytes in a field",
            fields: "X: \(String(repeating: "a", count: 17_000))\r\n", status: 431),
    ])
    func `an oversized or malformed request is refused, and the connection is closed`(
        _ request: BadRequest
    ) async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let head = "POST /apple/notifications HTTP/1.1\r\nHost: x\r\n\(request.fields)\r\n"
        let answer = try await HTTPAnswer.of(
            head + request.body, at: try server.place("notifications"))
        #expect(answer.status == request.status, "\(answer)")
    }

    @Test func `header fields that parsers interpret differently are refused`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        for (version, status) in ["1.1": 400, "1.0": 200] {
            let answer = try await HTTPAnswer.of(
                "GET /healthz HTTP/\(version)\r\nConnection: close\r\n\r\n",
                at: try server.place("metrics"))
            #expect(answer.status == status, "\(answer)")
        }
        // The API names the fault, and accepts spaces around a value.
        let rows: [([String], String?)] = [
            (["X-Request-Id: a\u{0}b"], "a header field is malformed"),
            (["X-Request-Id: a\u{0}b", "X: y"], "a header field is malformed"),
            (["Host: other"], "Host is missing, or given more than once"),
            (["X-Request-Id: \t ab \t ", "X: y \t "], nil),
        ]
        for (fields, words) in rows {
            let answer = try await server.call("api", "GET", "/v1/secret", fields)
            #expect(answer.status == (words == nil ? 200 : 400), "\(answer)")
            #expect(answer.body.contains(words ?? "client_secret"), "\(answer)")
        }
    }

    /// What a proxy takes for the body must not be answered as a second request.
    @Test(arguments: [
        "Content-Length : 33", "Content-Length\t: 33", "Transfer-Encoding : chunked",
        "X: a\rContent-Length: 33", "X: a\u{1}b", "X\u{7F}: a", "Ü: a",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: gzip, chunked",
    ])
    func `a field that another server may interpret differently ends the connection`(
        _ field: String
    ) async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let answer = try await HTTPAnswer.of(
            "POST /apple/notifications HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n"
                + "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
            at: try server.place("notifications"))
        #expect(answer.status == 400 && answer["Connection"] == "close", "\(answer)")
        #expect(answer["X-Request-Id"] != nil && answer.body.isEmpty, "\(answer)")
    }

    @Test(arguments: [
        "POST /apple/notifications\u{0} HTTP/1.1", "POST /apple/notifications\u{0}x HTTP/1.1",
        "POST \u{0} HTTP/1.1", "POST /apple/\u{1} HTTP/1.1",
        "PO\u{1}ST /apple/notifications HTTP/1.1",
        "POST /apple/notifications%00 HTTP/1.1", "POST /apple/notifications?%0A HTTP/1.1",
        "POST /apple/%FF HTTP/1.1", "POST\u{0} /apple/notifications HTTP/1.1",
        "POST  /apple/notifications HTTP/1.1",
    ])
    func `a control character in the request line is refused`(_ line: String) async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        let answer = try await HTTPAnswer.of(
            "\(line)\r\nHost: x\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body,
            at: try server.place("notifications"))
        #expect(answer.status == 400, "\(answer)")
        #expect(try await fixture.inbox().isEmpty)
    }

    @Test func `many connections wait in the backlog, and are served`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let place = try server.place("notifications")
        // Each needs a descriptor here and one there.
        let count = min(wished("SIWA_SERVER_CONNECTIONS", usual: 2000), Self.descriptors - 200)
        var sockets: [ClientSocket] = []
        for _ in 0..<count { sockets.append(try ClientSocket(place)) }
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        // The silent ones are closed after ten seconds, which makes room.
        try await eventually("a notification is received") {
            try await server.post(body).status == 200
        }
        sockets = []
        #expect(try await server.post(body).status == 200)
        #expect(try await server.stop().ending == .exit(0))
    }

    /// How many descriptors this process may have.
    static var descriptors: Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
