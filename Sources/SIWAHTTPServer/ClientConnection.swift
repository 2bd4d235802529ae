internal import Glibc

/// The state of an open connection: its peer and its deadline.
///
/// Ownership: the connection callback retains it when the connection is opened, and releases it
/// when it is closed. Only the event loop's thread uses it.
final class ClientConnection: @unchecked Sendable {
    /// The event loop that serves it.
    let loop: EventLoop
    /// Who opened the connection.
    let peer: ServerRequest.Peer
    private let socket: CInt
    /// When the connection is closed; nil for never.
    private var deadline: ContinuousClock.Instant?
    private var isNew = true

    private let idleTime: Duration

    init(
        of loop: EventLoop, peer: ServerRequest.Peer, socket: CInt, requestTime: Duration,
        idleTime: Duration
    ) {
        self.loop = loop
        self.idleTime = idleTime
        self.peer = peer
        self.socket = socket
        deadline = loop.now + requestTime
    }

    /// Called when the request line was received. The time of the first request is counted from the
    /// opening of the connection.
    func beginRequest(within limit: Duration) {
        if !isNew { deadline = loop.now + limit }
        isNew = false
    }

    /// Called when a response was sent: starts the deadline of the next request line.
    /// libmicrohttpd's own idle time restarts with each byte, and would never end for a client that
    /// sends one now and then.
    func awaitRequest() { deadline = loop.now + idleTime }

    /// Called when the whole request was received, or when a response without a time limit is sent.
    func removeDeadline() { deadline = nil }

    /// Called when a response is about to be sent.
    func beginAnswer(within limit: Duration) { deadline = loop.now + limit }

    /// Shuts the socket down if the deadline has passed; libmicrohttpd then closes the connection.
    func closeIfLate(at now: ContinuousClock.Instant) {
        guard let deadline, deadline < now else { return }
        self.deadline = nil
        shutdown(socket, CInt(SHUT_RDWR))
    }
}
