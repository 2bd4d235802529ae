internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

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
    func answer(_ request: ServerRequest) -> ServerAnswer {
        let call = Call(request, in: table, at: context.clocks.timekeeper.elapsed())
        return answerAtOnce(to: call) ?? .later { await respond(to: call) }
    }

    /// The answer to a request that needs no task: neither its token nor anything else has to be
    /// awaited. Nil for another.
    private func answerAtOnce(to call: Call) -> ServerAnswer? {
        guard case .route(let route, _) = call.match, let handle = route.handleAtOnce,
            !context.needsToken(for: route, options)
        else { return nil }
        do throws(Problem) {
            let request = try read(call, try self.route(of: call), as: APIScope.all)
            return switch try handle(request, context) {
            case nil: nil
            case .response(let response)?: .now(finished(response, of: call))
            case .promised(let start)?:
                .promised { start(RouteReply($0) { finished($0, of: call) }) }
            }
        } catch {
            return .now(refusal(error, of: call))
        }
    }

    private func respond(to call: Call) async -> ServerResponse {
        do throws(Problem) {
            return finished(try await response(to: call), of: call)
        } catch {
            return refusal(error, of: call)
        }
    }

    private func finished(
        _ response: Result<ServerResponse, Problem>, of call: Call
    ) -> ServerResponse {
        switch response {
        case .success(let response): finished(response, of: call)
        case .failure(let problem): refusal(problem, of: call)
        }
    }

    /// A request and its route.
    private final class Call: Sendable {
        let request: ServerRequest
        let id: String
        /// When it began, by the monotonic clock.
        let start: Duration
        /// The parameters of the query; nil if the target is malformed.
        let parameters: [RequestTarget.Parameter]?
        let match: RouteTable.Match
        let subject = RequestSubject()

        init(_ request: ServerRequest, in table: RouteTable, at start: Duration) {
            (self.request, id, self.start) = (request, RequestID.of(request), start)
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

    private func response(to call: Call) async throws(Problem) -> ServerResponse {
        let found = try route(of: call)
        let scopes =
            context.needsToken(for: found.route, options)
            ? try await context.authorize(call.request, for: found.route) : APIScope.all
        return try await found.route.handle(try read(call, found, as: scopes), context)
    }

    private typealias Found = (
        route: Route, values: [String: String], parameters: [RequestTarget.Parameter]
    )

    /// Reads the request to a route.
    private func read(
        _ call: Call, _ found: Found, as scopes: Set<APIScope>
    ) throws(Problem) -> RouteRequest {
        try RequestReading(found.route, found.values, found.parameters)
            .request(call.request, call.id, scopes, call.subject)
    }

    private func route(of call: Call) throws(Problem) -> Found {
        if let fault = call.request.fault { throw Problem(fault) }
        guard let parameters = call.parameters else {
            throw .malformed("the path or the query is malformed")
        }
        switch call.match {
        case .nothing:
            throw Problem(.notFound, .notFound, "no route has this path", exitCode: .no)
        case .otherMethod(_, let allowed):
            var problem = Problem(
                .methodNotAllowed, .methodNotAllowed,
                "the path allows only \(allowed.joined(separator: ", "))"
            )
            problem.fields = [HTTPField("Allow", allowed.joined(separator: ", "))]
            throw problem
        case .route(let route, let values): return (route, values, parameters)
        }
    }

    // The values of functions that are not inlined are no part of the memory in which each request
    // waits.

    /// The response to a request that was refused.
    @inline(never)
    private func refusal(_ problem: Problem, of call: Call) -> ServerResponse {
        var response = problem.shown(in: context.words).response
        if table.listener == .notifications {
            response.body = .bytes([])
            response.fields.removeAll { $0.name == "Content-Type" }
        }
        return finished(response, of: call, problem)
    }

    /// Adds the fields that every response has, and counts and logs the request.
    @inline(never)
    private func finished(
        _ response: ServerResponse, of call: Call, _ problem: Problem? = nil
    ) -> ServerResponse {
        var response = response
        response.fields.reserveCapacity(response.fields.count + 2)
        response.fields.append(HTTPField("X-Request-Id", call.id))
        if response.fields["cache-control"] == nil {
            response.fields.append(HTTPField("Cache-Control", "no-store"))
        }
        let time = context.clocks.timekeeper.elapsed() - call.start
        context.metrics.countRequest(
            on: table.listener, call.template, status: response.status, time)
        if call.isLogged || response.status >= 400 { log(call, response.status, time, problem) }
        return response
    }

    private func log(_ call: Call, _ status: Int, _ time: Duration, _ problem: Problem?) {
        let members: [JSON.Member] = [
            .init("request_id", .string(call.id)),
            .init("listener", .string(table.listener.rawValue)),
            .init("method", .string(printable(call.request.method, limit: 16))),
            .init("path", .string(call.template?.description ?? "other")),
            .init("status", .integer(status)),
            .init("duration_ms", .integer(Int(time / .milliseconds(1)))),
            .init("client", .string(client(of: call.request))),
        ]
        let subject = call.subject.current
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
