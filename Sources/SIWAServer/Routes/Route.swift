import SIWAHTTPServer
internal import SIWAJOSE
import SIWAServerRecords

/// One route of a listener: its complete description. The router, `Allow`, the metrics' `path`,
/// scopes and the OpenAPI document derive from it.
final class Route: Sendable {
    /// Handles a request.
    typealias Handler =
        @Sendable (RouteRequest, ServerContext) async throws(Problem) -> ServerResponse

    /// Handles a request that needs no task; nil for another.
    typealias HandlerAtOnce =
        @Sendable (RouteRequest, ServerContext) throws(Problem) -> AnswerAtOnce?

    /// What a handler has at once.
    enum AnswerAtOnce: Sendable {
        case response(ServerResponse)
        /// A function that has a callback send the response.
        case promised(@Sendable (RouteReply) -> Void)
    }

    /// The method; HEAD is answered like GET.
    let method: Method
    /// The path, such as `/v1/revocations/{id}`.
    let path: PathTemplate
    /// The permission that callers need.
    let scope: Scope
    /// The description, in one sentence.
    let summary: String
    /// The parameters of the path and of the query. Others are refused.
    let parameters: [RouteParameter]
    /// The members of the request's body; nil if it has none.
    let body: JSONSchema?
    /// The responses, except those that every route has.
    let responses: [RouteResponse]
    /// The media types of successful responses, the default first.
    let mediaTypes: [String]
    /// Whether each successful call is a line of the log. A call that changes nothing, and hands out
    /// no secret, is only counted.
    let isLogged: Bool
    /// Handles a request.
    let handle: Handler
    /// Handles a request before ``handle`` does; nil if every request needs a task.
    let handleAtOnce: HandlerAtOnce?
    /// The names of the parameters of the query.
    let queryNames: [String]
    /// The names of the members of the body.
    let bodyNames: [String]

    /// The methods of routes; HEAD goes with GET.
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// The permission that callers of a route need.
    enum Scope: Hashable, Sendable {
        /// None: every client that can connect.
        case open
        /// Any API token.
        case anyToken
        /// An API token with one of these scopes.
        case tokenWithOne(of: Set<APIScope>)

        static func token(_ scopes: APIScope...) -> Self { .tokenWithOne(of: Set(scopes)) }

        /// The accepted scopes, any of which is sufficient; nil if none is required.
        var accepted: Set<APIScope>? {
            if case .tokenWithOne(let scopes) = self { scopes } else { nil }
        }
    }

    /// Creates a route.
    init(
        _ method: Method, _ path: PathTemplate, scope: Scope, _ summary: String,
        parameters: [RouteParameter] = [], body: JSONSchema? = nil, responses: [RouteResponse] = [],
        mediaTypes: [String] = ["application/json"], isLogged: Bool = false,
        atOnce handleAtOnce: HandlerAtOnce? = nil, handle: @escaping Handler
    ) {
        self.handleAtOnce = handleAtOnce
        (self.method, self.path, self.scope, self.summary) = (method, path, scope, summary)
        (self.parameters, self.body, self.responses) = (parameters, body, responses)
        (self.mediaTypes, self.isLogged, self.handle) = (mediaTypes, isLogged, handle)
        queryNames = parameters.filter { $0.place == .query }.map(\.name)
        bodyNames = body?.json["properties"]?.members?.map(\.name) ?? []
    }
}

/// A parameter of a path or of a query.
struct RouteParameter: Hashable, Sendable {
    /// Where it is.
    enum Place: String, Sendable {
        case path, query
    }

    /// Where it is.
    let place: Place
    /// The name in the path or in the query.
    let name: String
    /// What the parameter selects, in one sentence.
    let summary: String
    /// The schema of its value.
    let schema: JSONSchema

    /// Creates a parameter.
    init(_ place: Place, _ name: String, _ summary: String, _ schema: JSONSchema) {
        (self.place, self.name, self.summary, self.schema) = (place, name, summary, schema)
    }
}

struct RouteResponse: Hashable, Sendable {
    /// The status code.
    let status: Int
    /// When the route answers so, in one sentence.
    let summary: String
    /// The schema of its body; nil for problem details and empty bodies.
    let schema: JSONSchema?

    /// Creates a response.
    init(_ status: Int, _ summary: String, _ schema: JSONSchema? = nil) {
        (self.status, self.summary, self.schema) = (status, summary, schema)
    }
}
