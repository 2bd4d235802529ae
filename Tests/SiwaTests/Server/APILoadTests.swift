import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The limits of the API while many callers use it at once.
@Suite(.blocking) struct APILoadTests {
    @Test(.timeLimit(.minutes(5)))
    func `64 requests to Apple run at once, and the others wait for ten seconds`() async throws {
        let fixture = try await ServerFixture()
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/token", "delay": "15s", "count": 1_000_000])
        let server = try await fixture.serve(fixture.listeners)
        async let answers = Self.refreshed(150, server)
        try await eventually("64 are on their way") {
            try await fixture.apple.requests().count == 64
        }
        // Requests that need nothing from Apple do not wait for it.
        let secret = try await server.api("GET", "/v1/secret")
        #expect(secret.status == 200)
        let all = try await answers
        let busy = all.filter { $0.status == 503 }
        #expect(busy.count == 150 - 64)
        for answer in busy {
            #expect(answer["Retry-After"] != nil)
            let problem = try answer.json
            #expect(problem["retryable"] == true)
            #expect(
                problem["detail"]?.string?.contains("too many requests") == true, "\(problem)")
        }
        // Apple refuses tokens that it did not issue.
        #expect(all.count { $0.status == 422 } == 64)
        #expect(try await fixture.apple.requests().count == 64)
    }

    private static func refreshed(
        _ count: Int, _ server: ServerProcess
    ) async throws -> [HTTPAnswer] {
        try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await server.api(
                        "POST", "/v1/refresh", ["token": .string("r.unknown.\(number)")])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(
        .enabled(if: ServerLimitsTests.descriptors > 1500, "too few descriptors: ulimit -n"),
        .timeLimit(.minutes(5)))
    func `a listener accepts 1024 connections, and other listeners are served meanwhile`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let place = try server.place("api")
        let silent = try (0..<1100).map { _ in try ClientSocket(place) }
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        #expect(try await server.post(body).status == 200)
        #expect(try await server.call("metrics", "GET", "/healthz").status == 200)
        let open = try FileManager.default.contentsOfDirectory(
            atPath: "/proc/\(server.program.pid)/fd")
        #expect((1000..<1150).contains(open.count), "\(open.count)")
        // Silent ones are closed after ten seconds.
        #expect(try await server.api("GET", "/v1/secret").status == 200)
        try await eventually("the silent connections are closed") {
            silent.allSatisfy(\.hasEnded)
        }
    }

    @Test func `an invalid API token is refused`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure([.init("api", ["listen": "127.0.0.1:0"])])
        let token = try await fixture.run(["token", "add", "app", "--scope", "read"]).output
            .trimmingCharacters(in: .newlines)
        let server = try await fixture.serve()
        let bearer = "Authorization: Bearer \(token)"
        let rows: [[String]] = [
            [], ["Authorization: "], ["Authorization: Bearer"], ["Authorization: Bearer "],
            ["Authorization: \(token)"], ["Authorization: Basic \(token)"], ["\(bearer) x"],
            ["\(bearer)="], ["Authorization: Bearer \(token.dropLast())"],
            ["Authorization: Bearer \(token.uppercased())"],
            ["Authorization: Bearer \(String(repeating: "a", count: 10_000))"],
            ["Cookie: \(token)"],
        ]
        for row in rows {
            let answer = try await server.api("GET", "/v1/events", nil, row)
            #expect(answer.status == 401, "\(row): \(answer)")
            #expect(answer["WWW-Authenticate"] == "Bearer realm=\"siwa\"")
            #expect(try answer.json["code"] == "unauthorized")
        }
        #expect(try await server.api("GET", "/v1/events?access_token=\(token)").status == 401)
        // A proxy may have used the other one.
        for second in [bearer, "authorization: \(token)"] {
            let twice = try await server.api("GET", "/v1/events", nil, [bearer, second])
            #expect(twice.status == 400, "\(twice)")
            #expect(
                twice["WWW-Authenticate"] == "Bearer realm=\"siwa\", error=\"invalid_request\"")
        }
        // RFC 9110: the scheme's name is the same in any case.
        let lower = "authorization: bearer \(token)"
        #expect(try await server.api("GET", "/v1/events", nil, [lower]).status == 200)
        // Callers without a token learn nothing about the paths that require one.
        #expect(try await server.api("GET", "/v1/users/nobody").status == 401)
        #expect(try server.log().allSatisfy { !$0.text.contains(token) })
    }

    @Test func `a request that is too long or malformed gets an error response`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let json = "Content-Type: application/json"
        func post(_ body: String, _ fields: [String] = [json]) async throws -> HTTPAnswer {
            try await server.call("api", "POST", "/v1/verify", fields, body: body)
        }
        let pad = String(repeating: " ", count: 65_536)
        let deep = String(repeating: "[", count: 60_000)
        let rows: [(String, [String], Int)] = [
            (pad + "{}", [json], 413), (pad + pad + "{}", [json], 413),
            (String(pad.dropLast(18)) + "{\"id_token\":\"x\"}", [json], 200),
            ("", [json], 400), ("{", [json], 400), ("[]", [json], 400), ("null", [json], 400),
            (deep, [json], 400), ("{\"id_token\":\"\u{0}\"}", [json], 400),
            ("{\"id_token\":\"x\",\"id_token\":\"y\"}", [json], 400),
            ("{\"id_token\":\"\\ud800\"}", [json], 400),
            ("{}", ["Content-Type: text/plain"], 415), ("{}", [], 415),
            ("{}", [json, "Content-Encoding: gzip"], 415),
            ("{\"id_token\":\"x\"}", [json, "Accept: text/html"], 406),
            ("{\"id_token\":\"x\"}", [json, "X: \(String(repeating: "a", count: 16_500))"], 431),
        ]
        for (body, fields, status) in rows {
            let answer = try await post(body, fields)
            #expect(answer.status == status, "\(body.suffix(20)) \(fields): \(answer)")
            if status != 200 {
                #expect(answer["Content-Type"] == "application/problem+json")
                #expect(try answer.json["status"] == .integer(status))
            }
        }
    }

    /// The end of the body never comes, or comes a megabyte later.
    @Test(arguments: ["api", "notifications"], [0, 900_000])
    func `a body of unknown length is refused as soon as it is too long`(
        _ listener: String, _ more: Int
    ) async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let path = listener == "api" ? "/v1/verify" : "/apple/notifications"
        let socket = try ClientSocket(try server.place(listener))
        socket.send(
            "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n" + Self.chunk(65_537))
        if more > 0 { socket.send(Self.chunk(more) + "0\r\n\r\n") }
        let answer = HTTPAnswer(text: String(decoding: socket.readToEnd(), as: UTF8.self))
        #expect(answer.status == 413, "\(answer)")
        #expect(answer["Connection"] == "close" && answer["Date"] != nil, "\(answer)")
        #expect(answer["Content-Length"] == "\(answer.body.utf8.count)", "\(answer)")
        if listener == "api" { #expect(try answer.json["code"] == "body_too_large") }
        let count = try await server.metric(
            "siwa_http_requests_total{listener=\"\(listener)\",path=\"\(path)\",status=\"413\"}")
        #expect(count == 1)
        #expect(try await server.stop().ending == .exit(0))
    }

    private static func chunk(_ size: Int) -> String {
        String(size, radix: 16) + "\r\n" + String(repeating: " ", count: size) + "\r\n"
    }

    @Test func `a body of unknown length that never ends is not read forever`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let socket = try ClientSocket(try server.place("api"))
        socket.send("POST /v1/verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        // More than both sides buffer.
        let isTaken = (0..<32).allSatisfy { _ in socket.send(Self.chunk(1 << 20)) }
        #expect(!isTaken)
        let answer = HTTPAnswer(text: String(decoding: socket.readToEnd(), as: UTF8.self))
        #expect(answer.status == 413, "\(answer)")
        #expect(try await server.api("GET", "/v1/secret").status == 200)
    }

    @Test func `paths and methods without a route are refused`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        for path in [
            "/v1/users/%00", "/v1/users/a%0Ab", "/v1/users/%ff", "/v1/%zz", "/v1/events?a=%",
        ] {
            let answer = try await server.api("GET", path)
            #expect(try answer.status == 400 && answer.json["code"] == "invalid_request", "\(path)")
        }
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            let answer = try await server.api(method, "/v1/verify")
            #expect(answer.status == 405 && answer["Allow"] == "POST", "\(method): \(answer)")
            #expect(answer["Access-Control-Allow-Origin"] == nil)
        }
    }

    /// Bytes that are not HTTP, or a request that never ends.
    private static let garbage = [
        "\r\n\r\n\r\n", "x", "GET\r\n\r\n", "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        "GET /v1/events HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://x/v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}",
        "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /v1/verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nNo colon\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n Folded: x\r\nConnection: close\r\n\r\n",
    ]

    @Test func `input that is not HTTP affects no other client`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let place = try server.place("api")
        let sockets = try (0..<260).map { number in
            let socket = try ClientSocket(place)
            socket.send(Self.garbage[number % Self.garbage.count])
            return socket
        }
        #expect(try await server.api("GET", "/v1/secret").status == 200)
        try await eventually("all are closed, or answered and closed", limit: .seconds(600)) {
            sockets.allSatisfy(\.hasEnded)
        }
        #expect(try await server.stop().ending == .exit(0))
    }
}
