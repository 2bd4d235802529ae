internal import Glibc
internal import SIWACMicroHTTPD
internal import SIWALifecycle
internal import Synchronization

/// One request and its response, for as long as libmicrohttpd works on it.
///
/// `begun` retains it and passes it to libmicrohttpd as the request's own pointer; `ended`, which
/// is called exactly once for a request, however it ends, releases it. A debug build asserts after
/// a stop that all were released.
final class Exchange: Sendable {
    private enum Stage {
        case announced
        case receiving(IncomingRequest)
        case answering(suspended: Connection?, after: Part)
        case answered(ServerResponse)
        /// Answered during this run of the daemon; libmicrohttpd asks again during the next one.
        case postponed(ServerResponse, in: Int)
        case sent
        /// The early response was written; the rest of the body is discarded.
        case discarding(bytesLeft: Int)
    }

    /// The part of a request that was received before it is answered.
    private enum Part {
        /// The header section, which rules the request out: the connection is closed, because what
        /// follows may not be a request.
        case header
        /// The beginning of a body that is too long.
        case beginning
        case whole
    }

    /// The next step.
    private enum Action {
        case wait
        case handle(ServerRequest, after: Part)
        case send(ServerResponse)
        case abort
    }

    private let target: RawTarget
    private let stage = Mutex(Stage.announced)
    private let handling: RequestHandling

    init(target: UnsafePointer<CChar>, in handling: RequestHandling) {
        self.target = RawTarget(target)
        self.handling = handling
        handling.exchanges.add(1, ordering: .relaxed)
    }

    deinit { handling.exchanges.subtract(1, ordering: .relaxed) }

    /// Takes received bytes, on the event loop's thread. The first call only announces a body; a
    /// later call without bytes ends it.
    func step(
        on connection: Connection, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>?,
        receiving bytes: UnsafeRawBufferPointer
    ) -> MHD_Result {
        let action = stage.withLock { stage -> Action in
            switch stage {
            case .announced:
                return announce(
                    IncomingRequest(
                        method: String(cString: method), target: target.text,
                        isMalformed: target.isMalformed(between: method, version),
                        needsHost: version.map { strcmp($0, "HTTP/1.1") == 0 } ?? false,
                        on: connection, handling.limits), &stage)
            case .receiving(let request): return receive(bytes, of: request, &stage)
            case .discarding(let left):
                guard !bytes.isEmpty, bytes.count <= left else { return .abort }
                stage = .discarding(bytesLeft: left - bytes.count)
                return .wait
            // Bytes that libmicrohttpd had read before it was suspended.
            case .answering(_, after: .beginning): return .wait
            case .answering(suspended: nil, after: .whole):
                suspend(connection, &stage, after: .whole)
                return .wait
            case .answering, .sent: return .abort
            case .postponed(_, let run) where run == connection.client?.loop.runs: return .wait
            case .answered(let response), .postponed(let response, _):
                stage = .sent
                return .send(response)
            }
        }
        switch action {
        case .wait: return .YES
        case .abort: return .NO
        case .send(let response): return handling.send(response, on: connection)
        case .handle(let request, let part):
            return handle(request, after: part, on: connection)
        }
    }

    /// Answers a request that its header section rules out immediately, and closes the connection.
    private func announce(_ request: IncomingRequest, _ stage: inout Stage) -> Action {
        if request.isRefused { return handle(request, &stage, after: .header) }
        stage = .receiving(request)
        return .wait
    }

    private func receive(
        _ bytes: UnsafeRawBufferPointer, of request: IncomingRequest, _ stage: inout Stage
    ) -> Action {
        guard !bytes.isEmpty else { return handle(request, &stage) }
        let progress = request.receive(bytes)
        if progress == .tooLong, !handling.isEncrypted {
            return handle(request, &stage, after: .beginning)
        }
        return progress == .endless ? .abort : .wait
    }

    private func handle(
        _ request: IncomingRequest, _ stage: inout Stage, after part: Part = .whole
    ) -> Action {
        stage = .answering(suspended: nil, after: part)
        return .handle(request.whole, after: part)
    }

    /// Calls the handler. If the response is not ready, the connection is suspended until it arrives.
    private func handle(
        _ request: ServerRequest, after part: Part, on connection: Connection
    ) -> MHD_Result {
        let isEarly = part == .beginning
        // The time to send a request is also the time to send one that is refused early.
        if !isEarly { connection.client?.removeDeadline() }
        let reply = ServerReply(exchange: self, loop: connection.client?.loop)
        guard handling.start(request, reply) else { return .NO }
        let response = stage.withLock { stage -> ServerResponse? in
            if case .answered(let response) = stage {
                if part == .whole, let loop = connection.client?.loop, !loop.sendsNow() {
                    stage = .postponed(response, in: loop.runs)
                    return nil
                }
                stage = isEarly ? discarding : .sent
                return response
            }
            // A whole request is suspended when libmicrohttpd asks again. If it were suspended now,
            // libmicrohttpd would read before it asks for the response, and drop a client that has closed
            // its sending side.
            if part != .whole { suspend(connection, &stage, after: part) }
            return nil
        }
        guard let response else { return .YES }
        guard isEarly else { return handling.send(response, on: connection) }
        connection.end(with: response)
        return .YES
    }

    private func suspend(_ connection: Connection, _ stage: inout Stage, after part: Part) {
        stage = .answering(suspended: connection, after: part)
        connection.suspend()
    }

    /// The part of a body that is read after its early response: if the connection were closed
    /// immediately, the client would get an error in place of the response.
    private var discarding: Stage { .discarding(bytesLeft: handling.limits.readBytes) }

    /// Keeps the response until libmicrohttpd asks for it; writes an early one.
    func answer(_ response: ServerResponse) {
        stage.withLock { stage in
            guard case .answering(let suspended, let part) = stage else { return }
            if part == .beginning, let suspended {
                stage = discarding
                suspended.end(with: response)
            } else {
                stage = .answered(part == .header ? response.closing : response)
            }
            suspended?.resume()
        }
        handling.inFlight.end(ObjectIdentifier(self))
    }
}
