import Glibc

/// A port on 127.0.0.1 without a listener: connecting is refused.
///
/// The socket is bound and not listening, so that no other program gets the port meanwhile.
package final class RefusedPort: Sendable {
    /// The port.
    package let port: UInt16
    private let socket: Descriptor

    /// Takes a port out of use.
    package init() throws { (socket, port) = try bindToLoopback() }

    /// `http://127.0.0.1:` and the port.
    package var url: String { "http://127.0.0.1:\(port)" }
}

/// A port on 127.0.0.1 for a program that cannot choose one itself, and that listens there with
/// `SO_REUSEPORT`: programs without that option never get the port.
package final class ReservedPort: Sendable {
    /// The port.
    package let port: UInt16
    private let socket: Descriptor

    /// Reserves a port.
    package init() throws { (socket, port) = try bindToLoopback(isShared: true) }
}

/// A port on 127.0.0.1 where connecting neither succeeds nor fails: its queue is full.
package final class SilentPort: Sendable {
    /// The port.
    package let port: UInt16
    private let sockets: [Descriptor]

    /// Fills a port's queue.
    package init() throws {
        let (listener, port) = try bindToLoopback()
        _ = try checked("listen") { listen(listener.number, 0) }
        // The queue of length 0 holds one connection; the second try is the one that hangs.
        let waiting = try (0..<3).map { _ in try beginConnecting(port: port) }
        self.port = port
        sockets = [listener] + waiting
    }

    /// `http://127.0.0.1:` and the port.
    package var url: String { "http://127.0.0.1:\(port)" }
}
