import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Testing

/// Unusual answers that are valid.
struct GoodAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    var status = 200
    var body = "{}"

    static let all = [
        GoodAnswer(testDescription: "plain", steps: [.readRequest, .answer(200, "{}"), .hold]),
        GoodAnswer(
            testDescription: "a 100 first",
            steps: [
                .readRequest, .write("HTTP/1.1 100 Continue\r\n\r\n"), .answer(200, "{}"), .hold,
            ]),
        GoodAnswer(
            testDescription: "a 103 with fields first",
            steps: [
                .readRequest, .write("HTTP/1.1 103 Early Hints\r\nA: early\r\n\r\n"),
                .answer(200, "{}", fields: ["A: final"]), .hold,
            ]),
        GoodAnswer(
            testDescription: "two answers: the first counts",
            steps: [.readRequest, .answer(200, "{}"), .answer(400, "{\"error\":\"x\"}"), .hold]),
        GoodAnswer(
            testDescription: "more body than declared: the rest is not the answer's",
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}more"), .hold,
            ]),
        GoodAnswer(
            testDescription: "no length: the end of the connection is the end",
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\n\r\n{}"), .endSending]),
        GoodAnswer(
            testDescription: "chunked, with a trailer",
            steps: [
                .readRequest,
                .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n"),
                .write("0\r\nA: trailer\r\n\r\n"), .hold,
            ]),
        GoodAnswer(
            testDescription: "byte by byte",
            steps: [.readRequest] + trickle("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") + [
                .hold
            ]),
        GoodAnswer(
            testDescription: "line feeds only",
            steps: [.readRequest, .write("HTTP/1.1 200 OK\nContent-Length: 2\n\n{}"), .hold]),
        GoodAnswer(
            testDescription: "HTTP/1.0",
            steps: [.readRequest, .write("HTTP/1.0 200 OK\r\n\r\n{}"), .endSending]),
        GoodAnswer(
            testDescription: "no body: 204",
            steps: [.readRequest, .write("HTTP/1.1 204 None\r\n\r\n"), .hold], status: 204, body: ""
        ),
        GoodAnswer(
            testDescription: "empty 200", steps: [.readRequest, .answer(200), .hold], body: ""),
        GoodAnswer(
            testDescription: "an unknown status",
            steps: [.readRequest, .answer(799, "{}"), .hold],
            status: 799),
        GoodAnswer(
            testDescription: "200 before the body is read, then the end",
            steps: [.readHead, .answer(200, "{}"), .endSending]),
        GoodAnswer(
            testDescription: "400 before anything is read",
            steps: [.answer(400, "{}"), .endSending], status: 400),
        GoodAnswer(
            testDescription: "exactly a mebibyte",
            steps: [.readRequest, .answer(200, String(repeating: "x", count: 1 << 20)), .hold],
            body: String(repeating: "x", count: 1 << 20)),
    ]

    private static func trickle(_ text: String) -> [Step] {
        text.utf8.flatMap { [.write([$0]), .pause(.milliseconds(1))] }
    }
}

@Suite struct GoodAnswerTests {
    @Test(arguments: GoodAnswer.all) func `an unusual but valid response is accepted`(
        _ row: GoodAnswer
    ) async throws {
        try await RawServer.serving(row.steps) { server in
            let answer = try await CurlTransport().post(server.url, isRepeatable: false)
            #expect(answer.status == row.status)
            #expect(answer.body == Array(row.body.utf8))
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `fields of an interim response are not part of the final response`() async throws {
        let early = "HTTP/1.1 103 Early\r\nRetry-After: 9\r\n\r\n"
        try await RawServer.serving([.readRequest, .write(early), .answer(200), .hold]) { server in
            let answer = try await CurlTransport().post(server.url)
            #expect(answer.fields["Retry-After"] == nil)
            #expect(answer.fields["content-type"] == "application/json")
        }
    }

    @Test func `non-UTF-8, empty, repeated and folded fields are accepted`() async throws {
        let head = Array(
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nEmpty:\r\nTwo: 1\r\nTwo: 2\r\n".utf8)
        let odd =
            Array("Bad: \u{1B}[2J ".utf8) + [0xFF, 0xFE] + Array("\r\n : folded\r\n\r\n".utf8)
        try await RawServer.serving([.readRequest, .write(head + odd), .hold]) { server in
            let answer = try await CurlTransport().post(server.url)
            #expect(answer.fields["Empty"] == "")
            #expect(answer.fields["Two"] == "1")
            #expect(answer.fields["Bad"]?.hasPrefix("\u{1B}[2J") == true)
        }
    }
}
