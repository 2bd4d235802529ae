import Foundation
import SIWATestSupport
import Testing

/// What a server answered, as it came.
struct HTTPAnswer: Sendable {
    /// Everything.
    let text: String

    var status: Int? { text.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    var body: String {
        text.range(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    /// The value of a header field.
    subscript(name: String) -> String? {
        let head = text.components(separatedBy: "\r\n\r\n").first ?? ""
        return head.components(separatedBy: "\r\n").dropFirst().compactMap { line -> String? in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }.first
    }

    /// A request, the only one of its connection unless that is kept.
    static func request(
        _ method: String, _ path: String, _ fields: [String] = [], _ body: String = "",
        keepsConnection: Bool = false
    ) -> String {
        let length = body.isEmpty && method != "POST" ? [] : ["Content-Length: \(body.utf8.count)"]
        let head =
            ["\(method) \(path) HTTP/1.1", "Host: localhost"]
            + (keepsConnection ? [] : ["Connection: close"])
        return (head + length + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// Sends a text to a listener, and reads until the server ends the connection.
    static func of(_ request: String, at place: String) async throws -> HTTPAnswer {
        let answer = try await read(after: request, at: place)
        #expect(typeNames(in: answer.text) == [])
        return answer
    }

    private static func read(after request: String, at place: String) async throws -> HTTPAnswer {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let socket = try ClientSocket(place)
                        socket.send(request)
                        return HTTPAnswer(text: String(decoding: socket.readToEnd(), as: UTF8.self))
                    })
            }
        }
    }
}
