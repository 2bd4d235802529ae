internal import Glibc

/// The service manager that started this process, such as systemd (sd_notify(3)).
package struct ServiceManager: Sendable {
    private let socketPath: String?
    /// The interval of the watchdog; nil if it is not enabled.
    package let watchdogInterval: Duration?

    /// Reads the variables of the protocol.
    package init(_ variables: (String) -> String?, processID: Int = Int(getpid())) {
        socketPath = variables("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        let isForOther = variables("WATCHDOG_PID").flatMap { Int($0) }.map { $0 != processID }
        let interval = variables("WATCHDOG_USEC").flatMap { Int($0) }
        watchdogInterval =
            isForOther == true
            ? nil : interval.flatMap { $0 > 0 ? .microseconds($0) : nil }
    }

    /// A state that it can be notified of.
    package enum State: Sendable {
        /// The service is ready.
        case ready
        /// The service reads its settings again; followed by ``ready``.
        case reloading
        /// The service is stopping.
        case stopping
        /// The service is alive.
        case alive
        /// The status line of `systemctl status`.
        case status(String)
    }

    /// Notifies the service manager; does nothing without one.
    package func notify(_ state: State) {
        guard let socketPath, let address = address(socketPath) else { return }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(text(of: state).utf8)
        withUnsafePointer(to: address.0) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(
                    descriptor, message, message.count, CInt(MSG_NOSIGNAL), $0,
                    address.size)
            }
        }
    }

    private func text(of state: State) -> String {
        switch state {
        case .ready: "READY=1"
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds())"
        case .stopping: "STOPPING=1"
        case .alive: "WATCHDOG=1"
        case .status(let text): "STATUS=\(text)"
        }
    }

    private static func monotonicMicroseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    /// The address of a path, or of a name in the abstract namespace after `@`.
    private func address(_ path: String) -> (sockaddr_un, size: socklen_t)? {
        var bytes = Array(path.utf8)
        guard bytes.count < 108, let first = bytes.first else { return nil }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = MemoryLayout<sa_family_t>.size + bytes.count + (bytes[0] == 0 ? 0 : 1)
        return (address, socklen_t(size))
    }
}
