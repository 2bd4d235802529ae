import Foundation

/// As much of HTTP/1.1 as the example needs, on POSIX sockets: one request a connection, without TLS,
/// at most 256 KiB. Behind a proxy it would work; a service of your own has a framework.
struct HTTPListener: Sendable {
    private let socket: CInt
    /// The port, which the system chose if none was given.
    let port: UInt16

    init(port: UInt16) throws {
        socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) == 0 && listen(socket, 64) == 0
                    && getsockname(socket, address, &size) == 0
            }
        }
        guard result else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL) }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    /// Answers connections until the process ends. Each waits in a thread of Dispatch's, not in one of
    /// Swift's tasks, which must not block.
    func serve(_ answer: @escaping @Sendable (HTTPRequest) async -> HTTPAnswer) {
        DispatchQueue.global().async {
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { continue }
                DispatchQueue.global().async { Self.serve(connection, answer) }
            }
        }
    }

    private static func serve(
        _ connection: CInt, _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPAnswer
    ) {
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(
                connection, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard let request = HTTPRequest(from: connection) else {
            close(connection)
            return
        }
        Task {
            let bytes = await answer(request).bytes
            DispatchQueue.global().async {
                _ = bytes.withUnsafeBytes {
                    send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                close(connection)
            }
        }
    }
}

/// A request, read whole.
struct HTTPRequest: Sendable {
    let method: String
    let path: String
    let body: String
    private let fields: [String: String]

    /// - Returns: nil if it is not a request, is too long, or does not come in time.
    init?(from connection: CInt) {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        var request: HTTPRequest?
        while request == nil, bytes.count <= 262_144 {
            let count = recv(connection, &part, part.count, 0)
            guard count > 0 else { return nil }
            bytes += part.prefix(count)
            request = HTTPRequest(whole: bytes)
        }
        guard let request else { return nil }
        self = request
    }

    /// - Returns: nil if something is missing.
    private init?(whole bytes: [UInt8]) {
        let end = Array("\r\n\r\n".utf8)
        guard let split = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else {
            return nil
        }
        let lines = String(decoding: bytes[..<split], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        (method, path) = (String(words[0]), String(words[1].prefix { $0 != "?" }))
        fields = lines.dropFirst().reduce(into: [:]) { fields, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return }
            fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let rest = bytes[(split + end.count)...]
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        guard length >= 0, rest.count >= length else { return nil }
        body = String(decoding: rest.prefix(length), as: UTF8.self)
    }

    func cookie(_ name: String) -> String? {
        let pairs = (fields["cookie"] ?? "").split(separator: ";")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        return pairs.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}

/// An answer.
struct HTTPAnswer: Sendable {
    let bytes: [UInt8]

    init(_ status: Int, _ text: String = "", headers: [String] = []) {
        let all =
            ["HTTP/1.1 \(status) -", "Content-Type: text/plain; charset=utf-8"]
            + [
                "Content-Length: \(text.utf8.count)", "Connection: close",
                "Cache-Control: no-store",
            ]
            + headers
        bytes = Array((all.joined(separator: "\r\n") + "\r\n\r\n" + text).utf8)
    }
}
