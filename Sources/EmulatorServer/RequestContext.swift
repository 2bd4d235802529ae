internal import AppleEmulator
internal import CMicroHTTPD
internal import Lifecycle
internal import Synchronization

/// The context of libmicrohttpd's callbacks: takes requests from their connections to the emulator.
final class RequestContext: Sendable {
    let inFlight = InFlight()
    /// How many requests libmicrohttpd works on.
    let exchanges = Atomic(0)
    /// How many streams of events are open: a browser opens one for each page.
    private let streams = Atomic(0)
    /// More are refused.
    private static let streamsLimit = 32
    private let emulator: AppleEmulator
    private let scheme: String

    init(emulator: AppleEmulator, scheme: String) {
        self.emulator = emulator
        self.scheme = scheme
    }

    /// Takes one step of one request, on libmicrohttpd's thread.
    func step(
        _ exchange: Exchange, on connection: Connection, method: String,
        receiving bytes: UnsafeRawBufferPointer
    ) -> MHD_Result {
        switch exchange.step(receiving: bytes) {
        case .wait: return .YES
        case .abort: return .NO
        case .answer(let body):
            let request = EmulatorRequest(
                method: method, scheme: scheme, target: exchange.target,
                fields: connection.fields, body: body)
            return answer(request, in: exchange, on: connection) ? .YES : .NO
        case .send(let reply):
            if let events = reply.events { return stream(reply, events, on: connection) }
            guard reply.cut != .noAnswer,
                let response = OwnedResponse(reply.response, cut: reply.cut)
            else { return .NO }
            return connection.queue(response, status: reply.response.status)
        }
    }

    /// Sends events for as long as the client reads them.
    private func stream(
        _ reply: EmulatorReply, _ events: ConsoleEvents, on connection: Connection
    ) -> MHD_Result {
        let body = EventBody(on: connection)
        guard let response = OwnedResponse(reply.response, writing: body),
            streams.load(ordering: .relaxed) < Self.streamsLimit
        else {
            let full = HTTPResponse(status: 503, fields: [HTTPField("Retry-After", "10")])
            guard let response = OwnedResponse(full, cut: nil) else { return .NO }
            return connection.queue(response, status: full.status)
        }
        streams.add(1, ordering: .relaxed)
        let hasStarted = inFlight.start(prepare: {}) { [self] in
            var events = events
            while let bytes = await events.next(), await body.write(bytes) {}
            body.end()
            streams.subtract(1, ordering: .relaxed)
        }
        guard hasStarted else { return .NO }
        return connection.queue(response, status: reply.response.status)
    }

    /// Suspends the connection and asks the emulator; the answer resumes it.
    private func answer(
        _ request: EmulatorRequest, in exchange: Exchange, on connection: Connection
    ) -> Bool {
        inFlight.start(prepare: connection.suspend) { [emulator] in
            let reply = await emulator.respond(to: request)
            // A stopping server ends the wait, and the answer leaves early.
            if reply.delay > .zero { try? await Task.sleep(for: reply.delay) }
            exchange.answer(reply)
            connection.resume()
        }
    }
}
