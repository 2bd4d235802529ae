import Glibc

/// Connections that each send their next request when the last one is answered.
struct Load {
    /// Where a server listens.
    enum Address {
        case port(Int)
        case socket(String)
    }

    /// The answers.
    struct Outcome {
        let count: Int
        let seconds: Double
        /// The number of answers other than 200.
        let refused: Int
        /// The time from a request to its answer that half of them, and that 99 of 100, stay below.
        let median, tail: Double
    }

    let address: Address
    let path: String
    /// An API token.
    var token: String?
    var connections = 64

    /// Sends each body once.
    func send(_ bodies: ArraySlice<[UInt8]>) throws -> Outcome {
        var bodies = bodies
        let clients = try (0..<min(connections, bodies.count)).map { _ in
            LoadClient(try connected())
        }
        defer { for client in clients { close(client.descriptor) } }
        var waits = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var times: [Double] = []
        var (open, refused) = (0, 0)
        let start = now()
        for client in clients { try begin(client, &bodies, &open) }
        while open > 0 {
            guard poll(&waits, nfds_t(waits.count), 10_000) > 0 else {
                throw BenchmarkError("the server does not answer")
            }
            for (index, client) in clients.enumerated() where waits[index].revents != 0 {
                guard let status = try client.receive() else { continue }
                times.append(now() - client.sentAt)
                if status != 200 { refused += 1 }
                open -= 1
                try begin(client, &bodies, &open)
            }
        }
        let seconds = now() - start
        times.sort()
        return Outcome(
            count: times.count, seconds: seconds, refused: refused,
            median: times[times.count / 2], tail: times[times.count * 99 / 100])
    }

    private func begin(
        _ client: LoadClient, _ bodies: inout ArraySlice<[UInt8]>, _ open: inout Int
    ) throws {
        guard let body = bodies.popFirst() else { return }
        try client.send(head + Array("\(body.count)\r\n\r\n".utf8) + body)
        open += 1
    }

    private var head: [UInt8] {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return Array(
            """
            POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
            \(authorization)Content-Length: 
            """.utf8)
    }

    /// Whether the server takes connections yet.
    var isOpen: Bool {
        guard let descriptor = try? connected() else { return false }
        close(descriptor)
        return true
    }

    private func connected() throws -> CInt {
        let descriptor: CInt
        let code: CInt
        switch address {
        case .port(let port):
            descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(UInt16(port).bigEndian)
            address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
            code = Self.connect(descriptor, &address)
            var isOn: CInt = 1
            setsockopt(
                descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn,
                socklen_t(MemoryLayout<CInt>.size))
        case .socket(let path):
            descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) {
                $0.copyBytes(from: path.utf8.prefix(107))
            }
            code = Self.connect(descriptor, &address)
        }
        guard code == 0 else {
            close(descriptor)
            throw BenchmarkError("the server does not take a connection")
        }
        return descriptor
    }

    private static func connect<Address>(_ descriptor: CInt, _ address: inout Address) -> CInt {
        withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                Glibc.connect(descriptor, $0.baseAddress, socklen_t(bytes.count))
            }
        }
    }
}

/// One connection.
private final class LoadClient {
    let descriptor: CInt
    private(set) var sentAt = 0.0
    private var received: [UInt8] = []

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    func send(_ request: [UInt8]) throws {
        received.removeAll(keepingCapacity: true)
        sentAt = now()
        guard
            Glibc.send(descriptor, request, request.count, CInt(MSG_NOSIGNAL))
                == request.count
        else { throw BenchmarkError("the server does not read its requests") }
    }

    /// Reads what there is; the status of the answer once it is complete.
    func receive() throws -> Int? {
        var buffer = [16_384 of UInt8](repeating: 0)
        let count = recv(descriptor, &buffer, 16_384, 0)
        guard count > 0 else { throw BenchmarkError("the server has closed a connection") }
        for index in 0..<count { received.append(buffer[index]) }
        return Self.status(of: received)
    }

    /// Nil until the whole answer is there.
    private static func status(of answer: [UInt8]) -> Int? {
        var (line, length) = (0, 0)
        for index in answer.indices where answer[index] == UInt8(ascii: "\n") {
            // Only the end of a line: the end of the header section.
            if index - line <= 1 {
                return answer.count - index - 1 >= length ? number(in: answer[9..<12]) : nil
            }
            let isLength = answer[line...].starts(with: contentLength) { $0 | 0x20 == $1 }
            if isLength { length = number(in: answer[line..<index]) }
            line = index + 1
        }
        return nil
    }

    private static let contentLength = Array("content-length:".utf8)

    private static func number(in text: ArraySlice<UInt8>) -> Int {
        text.reduce(0) { (0x30...0x39).contains($1) ? $0 * 10 + Int($1 - 0x30) : $0 }
    }
}
