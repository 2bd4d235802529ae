import Foundation
import SIWATestSupport
import Testing

/// Requests whose end two HTTP implementations may see in different places: what one of them takes
/// for a body must not be answered as a request.
@Suite(.blocking) struct SmugglingTests {
    /// The request that another implementation would take for a body, or the other way round.
    private static let hidden = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    private static func request(
        _ fields: String, line: String = "GET /healthz HTTP/1.1", _ body: String = ""
    ) -> String {
        "\(line)\r\nHost: x\r\n\(fields)\r\n\r\n\(body)\(hidden)"
    }

    private static let length = hidden.utf8.count
    private static let chunks = "0\r\n\r\n"

    /// Fields that leave the length of the body open.
    private static let lengths = [
        "Content-Length: \(length)\r\nContent-Length: \(length)",
        "Content-Length: 0\r\nContent-Length: \(length)", "Content-Length: \(length), \(length)",
        "Content-Length: 0, \(length)", "Content-Length: +\(length)", "Content-Length: -1",
        "Content-Length: 0x10", "Content-Length: 1 0", "Content-Length:", "Content-Length: ５",
        "Content-Length: 18446744073709551616", "Content-Length: 0;a", "Content-Length: 0.0",
    ]

    private static let codings = [
        "Content-Length: 0\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: identity", "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \"chunked\"", "Transfer-Encoding:", "Transfer-Encoding: ,chunked",
    ]

    /// Fields that another implementation may drop, split or join.
    private static let fields = [
        "Content-Length : \(length)", "Content-Length\t: \(length)",
        "X: a\r\n Content-Length: \(length)", "X: a\r\n\tContent-Length: \(length)",
        "X: a\rContent-Length: \(length)", "X: a\u{0}b", "X: a\u{1}b", "X\u{7F}: a", "Ü: a",
        "X(y): a", "Xabc", "Host: y",
    ]

    private static let lines = [
        "GET  /healthz HTTP/1.1", "GET\t/healthz HTTP/1.1", "GET /healthz\u{0} HTTP/1.1",
        "GET /healthz HTTP/2.0", "GET /healthz HTTP/1.11", "GET /healthz http/1.1",
    ]

    private static let sizes = [
        "0x5\r\nabcde\r\n\(chunks)", "-1\r\n\r\n", "10000000000000000\r\n\r\n", "\r\n",
        "1\r\nabc\r\n\(chunks)",
    ]

    private static let whole = [
        "GET /healthz HTTP/1.1\r\n\r\n\(hidden)",
        "GET /healthz HTTP/1.1\r\n Host: x\r\n\r\n\(hidden)",
        "GET /healthz HTTP/1.0\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"
            + "\r\n\r\n\(chunks)\(hidden)",
        request("Transfer-Encoding : chunked", chunks),
    ]

    /// More than the 53 cases that were tried once.
    private static var refused: [String] {
        lengths.map { request($0) } + codings.map { request($0, chunks) }
            + fields.map { request($0) } + lines.map { request("X: a", line: $0) }
            + sizes.map {
                request("Transfer-Encoding: chunked", line: "POST /healthz HTTP/1.1", $0)
            } + whole
    }

    /// Requests that all implementations read alike, and the statuses of the answers.
    private static let accepted: [(String, [Int])] = [
        (request("X: a"), [200, 200]),
        (request("X: a", line: "HEAD /healthz HTTP/1.1"), [200, 200]),
        (request("Content-Length: \(length)", hidden), [200, 200]),
        (request("Content-Length: 000\(length)", hidden), [200, 200]),
        (
            request("Content-Length: \(length)", line: "POST /healthz HTTP/1.1", hidden),
            [405, 200]
        ),
        (request("Transfer-Encoding: chunked", chunk + chunks), [200, 200]),
        (
            request(
                "Transfer-Encoding: chunked",
                chunk.replacing("\r\nGET", with: ";a=b\r\nGET") + chunks), [200, 200]
        ),
        (request("Transfer-Encoding: chunked", "0\r\nContent-Length: 9\r\n\r\n"), [200, 200]),
        (request("Transfer-Encoding: Chunked", chunks), [200, 200]),
        (request("X: a", line: "GET http://other.example/healthz HTTP/1.1"), [200, 200]),
        (request("X: a", line: "GET HTTPS://other.example:1/healthz?x HTTP/1.1"), [200, 200]),
        (request("X: a", line: "GET http://a@b/healthz HTTP/1.1"), [400, 200]),
        ("\r\n" + request("X: a"), [200, 200]),
    ]

    private static let chunk = "\(String(length, radix: 16))\r\n\(hidden)\r\n"

    private func statuses(_ request: String, at place: String) async throws -> [Int] {
        let text = try await HTTPAnswer.of(request, at: place).text
        return text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap {
            Int($0.prefix(3))
        }
    }

    @Test func `a smuggled request is never answered`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let place = try server.place("metrics")
        #expect(Self.refused.count + Self.accepted.count >= 53)
        for request in Self.refused {
            // The connection is closed, or reading would not end.
            let statuses = try await statuses(request, at: place)
            let first = try #require(statuses.first, "\(request.debugDescription)")
            #expect([400, 413, 505].contains(first), "\(request.debugDescription)")
            #expect(
                statuses.allSatisfy { $0 == first }, "\(request.debugDescription): \(statuses)")
        }
        for (request, expected) in Self.accepted {
            let statuses = try await statuses(request, at: place)
            #expect(statuses == expected, "\(request.debugDescription)")
        }
        #expect(try await server.stop().ending == .exit(0))
    }
}
