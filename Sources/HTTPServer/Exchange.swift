internal import CMicroHTTPD
internal import Glibc
internal import Lifecycle
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
        case answering(suspended: Connection?)
        case answered(ServerResponse)
        case sent
    }

    /// The next step.
    private enum Action {
        case wait
        case handle(ServerRequest)
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
            case .receiving(var request):
                stage = .announced
                guard !bytes.isEmpty else { return handle(request, &stage) }
                let isRead = request.receive(bytes)
                stage = .receiving(request)
                return isRead ? .wait : .abort
            case .answering, .sent: return .abort
            case .answered(let response):
                stage = .sent
                return .send(response)
            }
        }
        switch action {
        case .wait: return .YES
        case .abort: return .NO
        case .send(let response): return handling.send(response, on: connection)
        case .handle(let request): return handle(request, on: connection)
        }
    }

    /// Answers a request that its header section rules out immediately, and closes the connection.
    private func announce(_ request: IncomingRequest, _ stage: inout Stage) -> Action {
        if request.isRefused { return handle(request, &stage) }
        stage = .receiving(request)
        return .wait
    }

    private func handle(_ request: IncomingRequest, _ stage: inout Stage) -> Action {
        stage = .answering(suspended: nil)
        return .handle(request.whole)
    }

    /// Calls the handler. A response that is ready is sent immediately; otherwise the connection is
    /// suspended until the response arrives.
    private func handle(_ request: ServerRequest, on connection: Connection) -> MHD_Result {
        connection.client?.removeDeadline()
        let reply = ServerReply(exchange: self)
        guard handling.start(request, reply, on: connection.client?.loop) else { return .NO }
        let response = stage.withLock { stage -> ServerResponse? in
            if case .answered(let response) = stage {
                stage = .sent
                return response
            }
            stage = .answering(suspended: connection)
            connection.suspend()
            return nil
        }
        return response.map { handling.send($0, on: connection) } ?? .YES
    }

    /// Keeps the response until libmicrohttpd asks for it.
    func answer(_ response: ServerResponse) {
        stage.withLock { stage in
            guard case .answering(let suspended) = stage else { return }
            stage = .answered(response)
            suspended?.resume()
        }
        handling.inFlight.end(ObjectIdentifier(self))
    }
}
