import SIWATestSupport
import Testing

/// One way for a server to answer, and the two exit codes it must lead to.
struct HostileAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// The exit code of an exchange; 7 when the code may be spent.
    let exchange: CInt
    /// The exit code of a refresh.
    let refresh: CInt

    init(_ name: String, exchange: CInt, refresh: CInt, _ steps: [Step]) {
        testDescription = name
        self.steps = steps
        self.exchange = exchange
        self.refresh = refresh
    }

    /// An answer that is HTTP, with a body that is the point.
    init(
        _ name: String, exchange: CInt, refresh: CInt, _ status: Int, _ body: String,
        type: String = "application/json", fields: [String] = []
    ) {
        self.init(
            name, exchange: exchange, refresh: refresh,
            .answering(status, body, type: type, fields: fields))
    }

    static let all = broken + floods + pages + bodies + refusals + fields
}

extension HostileAnswer {
    private static let broken = [
        HostileAnswer("closed at once", exchange: 7, refresh: 75, [.readRequest, .close]),
        HostileAnswer("reset at once", exchange: 7, refresh: 75, [.readRequest, .reset]),
        HostileAnswer(
            "cut in the header", exchange: 7, refresh: 75,
            [.readRequest, .write("HTTP/1.1 200 OK\r\nContent-Type: app"), .close]),
        HostileAnswer(
            "cut in the body", exchange: 7, refresh: 75,
            [.readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), .close]),
        HostileAnswer(
            "broken chunks", exchange: 7, refresh: 75,
            [
                .readRequest, .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nq"),
                .close,
            ]),
        HostileAnswer(
            "another protocol", exchange: 7, refresh: 75,
            [.readRequest, .write("220 \u{1B}[31mmail\u{7}\r\n"), .close]),
        HostileAnswer(
            "binary", exchange: 7, refresh: 75, [.readRequest, .write([UInt8](0...255)), .close]),
        HostileAnswer(
            "reset before the request is read", exchange: 7, refresh: 75,
            [.readHead, .write("HTTP/1.1 200 OK\r\nContent-Le"), .reset]),
    ]

    private static let floods = [
        HostileAnswer(
            "an endless body", exchange: 7, refresh: 75,
            [
                .readRequest, .write("HTTP/1.1 200 OK\r\n\r\n"),
                .stream([UInt8](repeating: 32, count: 9999)),
            ]),
        HostileAnswer(
            "endless fields", exchange: 7, refresh: 75,
            [.readRequest, .write("HTTP/1.1 200 OK\r\n"), .stream(Array("A: \u{1B}[2J\r\n".utf8))]),
        HostileAnswer(
            "one endless field", exchange: 7, refresh: 75,
            [
                .readRequest, .write("HTTP/1.1 200 OK\r\nA: "),
                .stream([UInt8](repeating: 65, count: 9999)),
            ]),
    ]

    private static let pages = [
        HostileAnswer(
            "a captive portal", exchange: 7, refresh: 75, 200, "<html>log in</html>",
            type: "text/html"),
        HostileAnswer(
            "a redirect", exchange: 75, refresh: 75, 302, "",
            fields: ["Location: http://127.0.0.1:9/"]),
        HostileAnswer(
            "an outage in JSON", exchange: 7, refresh: 75, 500, "{\"error\":\"invalid_grant\"}"),
        HostileAnswer("404 without a body", exchange: 75, refresh: 75, 404, ""),
        HostileAnswer("429", exchange: 75, refresh: 75, 429, "{\"error\":\"invalid_client\"}"),
        HostileAnswer("an unknown status", exchange: 7, refresh: 75, 799, "{}"),
        HostileAnswer(
            "a content type that drives terminals", exchange: 75, refresh: 75, 404, "",
            type: "\u{1B}]0;owned\u{7}\u{9B}2J\u{202E}"),
    ]

    private static let bodies = [
        HostileAnswer("an empty 200", exchange: 7, refresh: 75, 200, ""),
        HostileAnswer("a null byte", exchange: 7, refresh: 75, 200, "\0"),
        HostileAnswer("half an object", exchange: 7, refresh: 75, 200, "{\"access_token\":\"aACC"),
        HostileAnswer(
            "a hundred thousand brackets", exchange: 7, refresh: 75, 200,
            String(repeating: "[", count: 100_000)),
        HostileAnswer(
            "a hundred thousand objects", exchange: 7, refresh: 75, 200,
            String(repeating: "{\"a\":", count: 100_000)),
        HostileAnswer(
            "a number of a megabyte", exchange: 7, refresh: 75, 200,
            String(repeating: "9", count: 1 << 20)),
        HostileAnswer(
            "a token that is a number", exchange: 7, refresh: 75, 200, "{\"access_token\":1}"),
        HostileAnswer(
            "a token that is null", exchange: 7, refresh: 75, 200, "{\"access_token\":null}"),
        HostileAnswer("an array", exchange: 7, refresh: 75, 200, "[\(tokens)]"),
        HostileAnswer(
            "bytes that are no UTF-8", exchange: 7, refresh: 75,
            [
                .readRequest,
                .answer(
                    200,
                    bytes: Array("{\"access_token\":\"".utf8) + [0xFF, 0xC0, 0x80]
                        + Array("\"}".utf8)),
                .endSending,
            ]),
        HostileAnswer(
            "tokens under another content type", exchange: 0, refresh: 0, 200, tokens,
            type: "text/plain"),
    ]

    private static let refusals = [
        HostileAnswer(
            "a refusal under 200", exchange: 5, refresh: 5, 200, "{\"error\":\"invalid_grant\"}"),
        HostileAnswer(
            "an unknown code", exchange: 6, refresh: 6, 400, "{\"error\":\"too_many_moons\"}"),
        HostileAnswer("an empty code", exchange: 75, refresh: 75, 400, "{\"error\":\"\"}"),
        HostileAnswer("a code that is an object", exchange: 75, refresh: 75, 400, "{\"error\":{}}"),
        HostileAnswer(
            "a code that drives terminals", exchange: 6, refresh: 6, 400,
            "{\"error\":\"\\u001b[2J\\u009b2J\"}"),
        HostileAnswer(
            "a reason that drives terminals", exchange: 5, refresh: 5, 400,
            """
            {"error":"invalid_grant","error_description":"\\u001b]0;owned\\u0007\\u009b31m\\r\\n\\u0000\\u202e\\u007f"}
            """),
        HostileAnswer(
            "the same, not escaped", exchange: 5, refresh: 5, 400,
            "{\"error\":\"invalid_grant\",\"error_description\":\"\u{9B}31m\u{202E}\u{7F}\u{200B}\u{2028}\"}"
        ),
        HostileAnswer(
            "a reason of a megabyte", exchange: 5, refresh: 5, 400,
            "{\"error\":\"invalid_grant\",\"error_description\":\"\(String(repeating: "x", count: 1_000_000))\"}"
        ),
    ]

    private static let fields = [
        HostileAnswer(
            "invalid waits", exchange: 75, refresh: 75, 429, "",
            fields: [
                "Retry-After: 99999999999999999999999", "Date: Fri, 99 Foo 99999 99:99:99 GMT",
            ]),
        HostileAnswer(
            "a wait until the end of days", exchange: 75, refresh: 75, 503, "",
            fields: ["Retry-After: 9223372036854775807", "Date: Fri, 31 Dec 9999 23:59:59 GMT"]),
        HostileAnswer(
            "a request id that drives terminals", exchange: 0, refresh: 0, 200, tokens,
            fields: ["X-Apple-I-Request-ID: \u{1B}[2J\u{9B}2J"]),
        HostileAnswer(
            "a lifetime beyond all calendars", exchange: 0, refresh: 0, 200,
            "{\"access_token\":\"a\",\"expires_in\":9223372036854775807}"),
        HostileAnswer(
            "a lifetime before them", exchange: 0, refresh: 0, 200,
            "{\"access_token\":\"a\",\"expires_in\":-9223372036854775808}"),
        HostileAnswer(
            "a lifetime that is no integer", exchange: 0, refresh: 0, 200,
            "{\"access_token\":\"a\",\"expires_in\":1e999}"),
    ]
}
