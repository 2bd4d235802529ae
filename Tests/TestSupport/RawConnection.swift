import Glibc

/// One connection of a ``RawServer``; its script runs on a thread of its own.
final class RawConnection: Sendable {
    private let record = Locked(Record())

    private struct Record {
        var socket: Descriptor?
        var received: [UInt8] = []
        var parsedCount = 0
        var requests: [RawRequest] = []
        var sentCount = 0
    }

    init(_ socket: Descriptor) {
        record.withLock { $0.socket = socket }
    }

    var received: [UInt8] { record.withLock(\.received) }
    var requests: [RawRequest] { record.withLock(\.requests) }
    var sentCount: Int { record.withLock(\.sentCount) }
    var hasEnded: Bool { record.withLock { $0.socket == nil } }

    /// Ends all blocking calls on the connection.
    func shutDown() {
        record.withLock { if let socket = $0.socket { shutdown(socket.number, CInt(SHUT_RDWR)) } }
    }

    /// Runs a script to its end, or to the client's.
    func perform(_ steps: [Step]) {
        guard let socket = record.withLock(\.socket) else { return }
        var isAgain = true
        while isAgain {
            isAgain = false
            for step in steps {
                if case .again = step { isAgain = true }
                guard perform(step, socket.number) else {
                    isAgain = false
                    break
                }
            }
        }
        record.withLock { $0.socket = nil }
    }

    /// False when the connection is over.
    private func perform(_ step: Step, _ socket: CInt) -> Bool {
        switch step {
        case .readRequest: readRequest(socket)
        case .readHead: read(socket) { self.unparsed.flatMap { RequestBoundary($0) } != nil }
        case .read(let count): read(socket) { self.received.count >= count }
        case .write(let bytes): write(bytes, socket)
        case .stream(let bytes): stream(bytes, socket)
        case .pause(let duration): pause(duration, socket)
        case .hold: read(socket) { false }
        case .tunnel(let port): tunnel(to: port, socket)
        case .again: true
        case .endSending: endSending(socket)
        case .close: false
        case .reset: reset(socket)
        }
    }

    private var unparsed: ArraySlice<UInt8>? {
        record.withLock { $0.received[$0.parsedCount...] }
    }

    /// Reads until `isEnough`; false when the client ends first.
    private func read(_ socket: CInt, until isEnough: () -> Bool) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while !isEnough() {
            let got = recv(socket, &chunk, chunk.count, 0)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return false }
            record.withLock { $0.received += chunk[..<got] }
        }
        return true
    }

    private func readRequest(_ socket: CInt) -> Bool {
        let isWhole = read(socket) {
            guard let bytes = self.unparsed, let end = RequestBoundary(bytes) else { return false }
            return bytes.count >= end.headCount + end.bodyCount
        }
        guard isWhole, let bytes = unparsed, let end = RequestBoundary(bytes) else { return false }
        let body = bytes.dropFirst(end.headCount).prefix(end.bodyCount)
        let request = RawRequest(
            head: String(decoding: bytes.prefix(end.headCount), as: UTF8.self),
            body: String(decoding: body, as: UTF8.self))
        record.withLock {
            $0.requests.append(request)
            $0.parsedCount += end.headCount + end.bodyCount
        }
        return true
    }

    private func write(_ bytes: [UInt8], _ socket: CInt) -> Bool {
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress.map { $0 + done }, $0.count - done, CInt(MSG_NOSIGNAL))
            }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return false }
            done += sent
            record.withLock { $0.sentCount += sent }
        }
        return true
    }

    private func stream(_ bytes: [UInt8], _ socket: CInt) -> Bool {
        while write(bytes, socket) {}
        return false
    }

    /// True when the time passed; a reset, or the end of the server, ends it early.
    private func pause(_ duration: Duration, _ socket: CInt) -> Bool {
        let (seconds, attoseconds) = duration.components
        var watched = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&watched, 1, CInt(seconds * 1000 + attoseconds / 1_000_000_000_000_000)) == 0
    }

    private func endSending(_ socket: CInt) -> Bool {
        shutdown(socket, CInt(SHUT_WR))
        return read(socket) { false }
    }

    private func reset(_ socket: CInt) -> Bool {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        return false
    }

    /// Ends with the first side that ends; answers false, because nothing can follow.
    private func tunnel(to port: UInt16, _ socket: CInt) -> Bool {
        guard let other = try? connectToLoopback(port: port) else { return false }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var watched = [socket, other.number].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while poll(&watched, 2, -1) > 0 {
            for (source, target) in [(0, 1), (1, 0)] where watched[source].revents != 0 {
                let got = recv(watched[source].fd, &chunk, chunk.count, 0)
                guard got > 0 else { return false }
                if source == 0 { record.withLock { $0.received += chunk[..<got] } }
                guard write(Array(chunk[..<got]), watched[target].fd) else { return false }
            }
        }
        return false
    }
}
