internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle

/// Dispatches the requests of one listener to its routes.
struct Router: Sendable {
    private let table: RouteTable
    private let context: ServerContext
    private let options: Options

    /// The options of a listener.
    struct Options: Sendable {
        /// Whether callers need an API token.
        var requiresToken = false
        /// Whether a reverse proxy is in front, which passes the client's address.
        var isBehindProxy = false
    }

    init(_ table: RouteTable, _ context: ServerContext, _ options: Options) {
        (self.table, self.context, self.options) = (table, context, options)
    }

    /// Answers a request, counts it, and logs it if it failed or changed something.
    func respond(to request: ServerRequest) async -> ServerResponse {
        let elapsed = context.clocks.timekeeper.elapsed
        let start = elapsed()
        let id = RequestID.of(request)
        let (found, subject) = (Found(request, in: table), RequestSubject())
        var response: ServerResponse
        var problem: Problem?
        do throws(Problem) {
            response = try await answer(request, id, found, subject)
        } catch {
            problem = error
            response = error.shown(in: context.words).response
            if table.listener == .notifications {
                response.body = .bytes([])
                response.fields.removeAll { $0.name == "Content-Type" }
            }
        }
        finish(&response, id)
        let time = elapsed() - start
        context.metrics.countRequest(
            on: table.listener, found.template, status: response.status, time)
        if found.isLogged || response.status >= 400 {
            log(request, id, found, response.status, time, subject.current, problem)
        }
        return response
    }

    /// The route of a request.
    private struct Found {
        /// The parameters of the query; nil if the target is malformed.
        let parameters: [RequestTarget.Parameter]?
        let match: RouteTable.Match

        init(_ request: ServerRequest, in table: RouteTable) {
            if let route = table.route(request.method, at: request.target) {
                (parameters, match) = ([], .route(route, [:]))
                return
            }
            let target = RequestTarget(request.target)
            parameters = target?.parameters
            match = target.map { table.match(request.method, $0.segments) } ?? .nothing
        }

        /// The template of the path, also if only another method matches.
        var template: PathTemplate? {
            switch match {
            case .route(let route, _): route.path
            case .otherMethod(let path, _): path
            case .nothing: nil
            }
        }

        var isLogged: Bool {
            if case .route(let route, _) = match { route.isLogged } else { false }
        }
    }

    private func answer(
        _ request: ServerRequest, _ id: String, _ found: Found, _ subject: RequestSubject
    ) async throws(Problem) -> ServerResponse {
        if let fault = request.fault { throw Problem(fault) }
        guard let parameters = found.parameters else {
            throw .malformed("the path or the query is malformed")
        }
        switch found.match {
        case .nothing:
            throw Problem(.notFound, .notFound, "no route has this path", exitCode: .no)
        case .otherMethod(_, let allowed):
            var problem = Problem(
                .methodNotAllowed, .methodNotAllowed,
                "the path allows only \(allowed.joined(separator: ", "))"
            )
            problem.fields = [HTTPField("Allow", allowed.joined(separator: ", "))]
            throw problem
        case .route(let route, let values):
            let scopes = try await context.authorize(request, for: route, options)
            return try await route.handle(
                try RequestReading(route, values, parameters)
                    .request(request, id, scopes, subject),
                context)
        }
    }

    /// Adds the fields that every response has.
    private func finish(_ response: inout ServerResponse, _ id: String) {
        response.fields.reserveCapacity(response.fields.count + 2)
        response.fields.append(HTTPField("X-Request-Id", id))
        if response.fields["cache-control"] == nil {
            response.fields.append(HTTPField("Cache-Control", "no-store"))
        }
    }

    private func log(
        _ request: ServerRequest, _ id: String, _ found: Found, _ status: Int, _ time: Duration,
        _ subject: LogSubject, _ problem: Problem?
    ) {
        let members: [JSON.Member] = [
            .init("request_id", .string(id)), .init("listener", .string(table.listener.rawValue)),
            .init("method", .string(printable(request.method, limit: 16))),
            .init("path", .string(found.template?.description ?? "other")),
            .init("status", .integer(status)),
            .init("duration_ms", .integer(Int(time / .milliseconds(1)))),
            .init("client", .string(client(of: request))),
        ]
        let level: ServiceEvent.Level = status >= 500 ? .error : status >= 400 ? .warning : .info
        let event =
            problem.map { ServiceEvent(level, "request", $0, members, about: subject) }
            ?? ServiceEvent(level, "request", members, about: subject)
        guard table.listener == .notifications, status >= 400 else { return context.log(event) }
        context.log(
            event,
            limitedAs: [
                .init("of", "request"), .init("listener", .string(table.listener.rawValue)),
                .init("status", .integer(status)),
            ] + (problem.map { [.init("code", .string($0.code))] } ?? []))
    }

    /// The client's address. The last address in `X-Forwarded-For` was added by the proxy itself,
    /// perhaps in a separate field.
    private func client(of request: ServerRequest) -> String {
        guard options.isBehindProxy,
            let last = request.fields.list("x-forwarded-for")?.split(separator: ",").last
        else { return request.peer.description }
        return printable(String(last.filter { $0 != " " && $0 != "\t" }), limit: 64)
    }
}

extension Problem {
    /// The problem of a request that is refused as a whole.
    init(_ fault: ServerRequest.Fault) {
        switch fault {
        case .bodyTooLarge:
            self.init(.contentTooLarge, .bodyTooLarge, "the body is longer than 64 KiB")
        case .headerTooLarge:
            self.init(
                .headerTooLarge, .headerTooLarge, "the header fields are longer than 16 KiB")
        case .ambiguousLength:
            self.init(
                .badRequest, .invalidRequest, "the length of the body is given more than once")
        case .unknownCoding:
            self.init(.badRequest, .invalidRequest, "Transfer-Encoding must be chunked")
        case .malformedRequestLine:
            self.init(.badRequest, .invalidRequest, "the request line is malformed")
        case .malformedField:
            self.init(.badRequest, .invalidRequest, "a header field is malformed")
        case .ambiguousHost:
            self.init(
                .badRequest, .invalidRequest, "the field Host is missing, or given more than once"
            )
        }
    }
}
