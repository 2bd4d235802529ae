import SIWACurlTransport
import SIWALifecycle
import SIWATestSupport
import Testing

/// Faults of a server after it received the request.
struct BrokenAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let kind: TransportError.Kind
    let steps: [Step]

    static let all = cuts + nonsense + floods

    private static let cuts = [
        BrokenAnswer(testDescription: "closed at once", kind: .cut, steps: [.readRequest, .close]),
        BrokenAnswer(testDescription: "reset at once", kind: .cut, steps: [.readRequest, .reset]),
        BrokenAnswer(
            testDescription: "cut in the status line", kind: .cut,
            steps: [.readRequest, .write("HTTP/1.1 20"), .close]),
        BrokenAnswer(
            testDescription: "cut in the header", kind: .cut,
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\nContent-Len"), .close]),
        BrokenAnswer(
            testDescription: "cut between header and body", kind: .cut,
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .close]),
        BrokenAnswer(
            testDescription: "cut in the body", kind: .cut,
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}"), .close,
            ]),
        BrokenAnswer(
            testDescription: "reset in the body", kind: .cut,
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}"),
                .pause(.milliseconds(20)), .reset,
            ]),
        BrokenAnswer(
            testDescription: "cut in a chunk", kind: .cut,
            steps: [
                .readRequest,
                .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"), .close,
            ]),
        BrokenAnswer(
            testDescription: "only a 100", kind: .cut,
            steps: [.readRequest, .write("HTTP/1.1 100 Continue\r\n\r\n"), .close]),
    ]

    private static let nonsense = [
        BrokenAnswer(
            testDescription: "another protocol", kind: .malformed,
            steps: [.readRequest, .write("220 mail.example.com ESMTP\r\n"), .close]),
        BrokenAnswer(
            testDescription: "HTTP/0.9", kind: .malformed,
            steps: [.readRequest, .write("<html>hello</html>"), .close]),
        BrokenAnswer(
            testDescription: "binary", kind: .malformed,
            steps: [.readRequest, .write([UInt8](0...255)), .close]),
        BrokenAnswer(
            testDescription: "a version of the future", kind: .malformed,
            steps: [.readRequest, .write("HTTP/4.2 200 OK\r\n\r\n"), .close]),
        BrokenAnswer(
            testDescription: "a length that is no number", kind: .malformed,
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), .close]),
        BrokenAnswer(
            testDescription: "a negative length", kind: .malformed,
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}"), .close,
            ]),
        BrokenAnswer(
            testDescription: "a null byte in a field", kind: .malformed,
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\nA: \0\r\n\r\n"), .close]),
        BrokenAnswer(
            testDescription: "a chunk whose size is no number", kind: .cut,
            steps: [
                .readRequest,
                .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"), .hold,
            ]),
        BrokenAnswer(
            testDescription: "an encoding that was not requested", kind: .malformed,
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}"),
                .close,
            ]),
    ]

    private static let floods = [
        BrokenAnswer(
            testDescription: "an endless body", kind: .tooLarge,
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\n\r\n"), .stream(block)]),
        BrokenAnswer(
            testDescription: "a declared body of two gigabytes", kind: .tooLarge,
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n"),
                .stream(block),
            ]),
        BrokenAnswer(
            testDescription: "endless chunks", kind: .tooLarge,
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                .stream(Array("4\r\nabcd\r\n".utf8)),
            ]),
        BrokenAnswer(
            testDescription: "endless fields", kind: .tooLarge,
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\n"), .stream(Array("A: b\r\n".utf8))]),
        BrokenAnswer(
            testDescription: "one endless field", kind: .tooLarge,
            steps: [.readRequest, .write("HTTP/1.1 200 OK\r\nA: "), .stream(block)]),
        BrokenAnswer(
            testDescription: "endless provisional answers", kind: .tooLarge,
            steps: [.readRequest, .stream(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))]),
        BrokenAnswer(
            testDescription: "endless trailers", kind: .tooLarge,
            steps: [
                .readRequest, .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"),
                .stream(Array("A: b\r\n".utf8)),
            ]),
    ]

    private static let block = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
}

@Suite struct BrokenAnswerTests {
    @Test(arguments: BrokenAnswer.all) func `a broken response is an error of the right kind`(
        _ row: BrokenAnswer
    ) async throws {
        try await RawServer.serving(row.steps) { server in
            let error = try await CurlTransport().failure(of: server.url, isRepeatable: false)
            #expect(error?.kind == row.kind, "\(error?.message ?? "")")
            #expect(error?.requestMayHaveLeft == true)
            #expect(error?.message.isEmpty == false)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `an oversized response is stopped near 1 MiB`() async throws {
        let block = [UInt8](repeating: 0, count: 64 << 10)
        try await RawServer.serving(
            [.readRequest, .write("HTTP/1.1 200 OK\r\n\r\n"), .stream(block)]
        ) { server in
            let error = try await CurlTransport().failure(of: server.url)
            #expect(error?.kind == .tooLarge)
            // Some megabytes fit into the sockets' buffers, beyond what siwa took.
            #expect(server.sentCount < 32 << 20)
        }
    }
}
