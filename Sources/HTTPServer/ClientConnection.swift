internal import Glibc

/// What an event loop knows of a connection, for as long as it is open.
///
/// Who frees this: the connection callback retains it when the connection begins, and releases it
/// when it ends. Only the loop's thread uses it.
final class ClientConnection: @unchecked Sendable {
    /// The loop that serves it.
    let loop: EventLoop
    /// The client.
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
        deadline = .now + requestTime
    }

    /// The request line came. The time of a first request counts from the connection's begin.
    func beginRequest(within limit: Duration) {
        if !isNew { deadline = .now + limit }
        isNew = false
    }

    /// An answer was sent: the next request line has to come in time. libmicrohttpd's own idle time
    /// begins anew with each byte, and would never end for a client that sends one now and then.
    func awaitRequest() { deadline = .now + idleTime }

    /// The whole request came, or an answer that has no limit is sent.
    func removeDeadline() { deadline = nil }

    /// An answer is sent.
    func beginAnswer(within limit: Duration) { deadline = .now + limit }

    /// Ends both directions if the time is up; libmicrohttpd then closes the connection.
    func closeIfLate(at now: ContinuousClock.Instant) {
        guard let deadline, deadline < now else { return }
        self.deadline = nil
        shutdown(socket, CInt(SHUT_RDWR))
    }
}
