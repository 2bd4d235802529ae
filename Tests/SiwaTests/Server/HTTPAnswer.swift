import Foundation
import Glibc
import TestSupport
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

    /// A request that is the only one of its connection.
    static func request(
        _ method: String, _ path: String, _ fields: [String] = [], _ body: String = ""
    ) -> String {
        let length = body.isEmpty && method != "POST" ? [] : ["Content-Length: \(body.utf8.count)"]
        let head = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"]
        return (head + length + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// Sends a text to a listener, and reads until the server ends the connection.
    static func of(_ request: String, at place: String) async throws -> HTTPAnswer {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let socket = try ServerSocket(place)
                        socket.send(request)
                        return HTTPAnswer(text: String(decoding: socket.readToEnd(), as: UTF8.self))
                    })
            }
        }
    }
}

/// A connection to a listener: it sends bytes as they are, and reads what comes.
final class ServerSocket: Sendable {
    private let descriptor: CInt

    /// Connects to `127.0.0.1:PORT` or `unix:PATH`.
    init(_ place: String) throws {
        let isUnix = place.hasPrefix("unix:")
        descriptor = socket(isUnix ? AF_UNIX : AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        // A server that never answers must fail the test, not hang it.
        var patience = timeval(tv_sec: 100, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        let isConnected =
            isUnix
            ? Self.connectUnix(descriptor, String(place.dropFirst(5)))
            : Self.connectTCP(
                descriptor, UInt16(place.split(separator: ":").last.map(String.init) ?? "") ?? 0)
        try #require(isConnected, "cannot connect to \(place): \(errno)")
    }

    deinit { close(descriptor) }

    private static func connectUnix(_ descriptor: CInt, _ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static func connectTCP(_ descriptor: CInt, _ port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Sends a text; what the server no longer wants is lost.
    func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Whether the server has ended the connection; what came is thrown away.
    var hasEnded: Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let got = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return got == 0 || got < 0 && errno != EAGAIN
    }

    /// Reads until the server ends the connection.
    func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = recv(descriptor, &buffer, buffer.count, 0)
            guard got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }
}
