internal import SIWACMicroHTTPD
internal import SIWALifecycle
internal import Synchronization

/// The shared state of a server's connections: the handler, the limits, and the requests in flight.
final class RequestHandling: Sendable {
    let inFlight = InFlight()
    /// The number of requests that libmicrohttpd works on.
    let exchanges = Atomic(0)
    /// The number of streamed bodies that are being sent.
    private let streams = Atomic(0)
    let limits: ServerLimits
    /// Whether the connections use TLS.
    let isEncrypted: Bool
    /// Called when the handler was called for all requests that were received.
    let endTurn: @Sendable () -> Void
    private let handler: HTTPServer.Handler

    init(
        _ limits: ServerLimits, isEncrypted: Bool, endTurn: @escaping @Sendable () -> Void,
        _ handler: @escaping HTTPServer.Handler
    ) {
        (self.limits, self.isEncrypted) = (limits, isEncrypted)
        (self.endTurn, self.handler) = (endTurn, handler)
    }

    /// Calls the handler, on the event loop's thread; returns false if the server is stopping.
    func start(_ request: ServerRequest, _ reply: ServerReply) -> Bool {
        let key = ObjectIdentifier(reply.exchange)
        guard inFlight.begin(key) else { return false }
        switch handler(request) {
        case .now(let response): reply.send(response)
        case .promised(let start):
            inFlight.promise(key, reply)
            start(reply)
        case .later(let respond):
            let task = Task(executorPreference: reply.loop) { reply.send(await respond()) }
            inFlight.run(key, task, reply)
            // Runs the task until it waits.
            reply.loop?.runJobs()
        }
        return true
    }

    /// Sends a response, on the event loop's thread.
    func send(_ response: ServerResponse, on connection: Connection) -> MHD_Result {
        let isLast = connection.client?.loop.isDraining == true
        let response = isLast ? response.closing : response
        switch response.body {
        case .dropped: return .NO
        case .stream(let write): return stream(response, write, on: connection)
        case .bytes, .broken:
            connection.client?.beginAnswer(within: limits.answerTime)
            guard let owned = OwnedResponse(response) else { return .NO }
            return connection.queue(owned, status: response.status)
        }
    }

    /// Sends a body for as long as the client reads it.
    private func stream(
        _ response: ServerResponse, _ write: @escaping @Sendable (BodyWriter) async -> Void,
        on connection: Connection
    ) -> MHD_Result {
        let body = BodyWriter(on: connection)
        guard let owned = OwnedResponse(response, writing: body),
            streams.load(ordering: .relaxed) < limits.streams
        else {
            let full = ServerResponse(status: 503, fields: [HTTPField("Retry-After", "10")])
            return send(full, on: connection)
        }
        let key = ObjectIdentifier(body)
        guard inFlight.begin(key) else { return .NO }
        streams.add(1, ordering: .relaxed)
        let task = Task { [self] in
            await write(body)
            body.end()
            streams.subtract(1, ordering: .relaxed)
            inFlight.end(key)
        }
        inFlight.run(key, task)
        return connection.queue(owned, status: response.status)
    }
}
