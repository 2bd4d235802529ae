internal import Glibc

/// A connection to a Unix socket, used by one thread. Every call ends at the deadline.
package final class UnixStream {
    private let descriptor: CInt
    private let path: String
    private let deadline: MonotonicDeadline

    /// Connects to the socket at `path`.
    ///
    /// - Throws: ``FileError``.
    package init(_ path: String, within limit: Duration) throws(FileError) {
        (self.path, deadline) = (path, MonotonicDeadline(after: limit))
        guard path.utf8.count < 108 else {
            throw FileError("connect to", path, reason: "a path of more than 107 bytes")
        }
        descriptor = try system("connect to", path) {
            socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        do throws(FileError) {
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            try connect()
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    private func connect() throws(FileError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        while true {
            let result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard result != 0, errno != EISCONN else { return }
            // A Unix socket whose queue is full refuses with EAGAIN.
            guard errno == EAGAIN || errno == EINTR else { throw FileError("connect to", path) }
            guard deadline.milliseconds > 0, ProcessSignals.received == nil else { throw isLate }
            poll(nil, 0, 10)
        }
    }

    /// Writes all of `bytes`.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                try wait(for: POLLOUT)
            } else if errno != EINTR {
                throw FileError("write to", path)
            }
        }
    }

    /// Reads what arrives next, at most 4096 bytes.
    ///
    /// - Returns: empty at the end.
    package func read() throws(FileError) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count >= 0 { return Array(chunk.prefix(count)) }
            if errno == EAGAIN {
                try wait(for: POLLIN)
            } else if errno != EINTR {
                throw FileError("read from", path)
            }
        }
    }

    private func wait(for events: CInt) throws(FileError) {
        while true {
            guard deadline.milliseconds > 0, ProcessSignals.received == nil else { throw isLate }
            var readiness = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // Short, so that a signal that asks the process to end is noticed.
            if poll(&readiness, 1, min(deadline.milliseconds, 100)) > 0 { return }
        }
    }

    private var isLate: FileError { FileError("wait for", path, code: ETIMEDOUT) }
}

/// A moment of the monotonic clock.
struct MonotonicDeadline {
    private let end: ContinuousClock.Instant

    init(after limit: Duration) { end = ContinuousClock.now + limit }

    /// The remaining time; 0 if it is over.
    var milliseconds: CInt {
        let left = end - ContinuousClock.now
        guard left > .zero else { return 0 }
        let part = left.components.attoseconds / 1_000_000_000_000_000
        return CInt(clamping: left.components.seconds * 1000 + part + 1)
    }
}
