package import HTTPServer
package import ServerRecords

/// One kind of request that a listener answers: all that is said about it, in one place. The
/// router, `Allow`, the metrics' `path`, scopes and the OpenAPI document derive from it.
package struct Route: Sendable {
    /// What it does with a request.
    package typealias Handler =
        @Sendable (RouteRequest, ServerContext) async throws(Problem) -> ServerResponse

    /// The method.
    package let method: Method
    /// The path, such as `/v1/revocations/{id}`.
    package let path: PathTemplate
    /// Who may call.
    package let scope: Scope
    /// What it does, in one sentence.
    package let summary: String
    /// The parameters of the path and of the query. Others are refused.
    package let parameters: [RouteParameter]
    /// The members of the request's body; nil if it has none.
    package let body: Schema?
    /// The answers, apart from those that every route has.
    package let responses: [RouteResponse]
    /// The media types of successful answers, the usual one first.
    package let mediaTypes: [String]
    /// Whether each successful call is a line of the log. A call that changes nothing, and hands out
    /// no secret, is only counted.
    package let isLogged: Bool
    /// Answers a request.
    package let handle: Handler

    /// The methods of routes; HEAD goes with GET.
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// Who may call a route.
    package enum Scope: Hashable, Sendable {
        /// Whoever reaches the listener.
        case open
        /// The holder of any token of the API.
        case anyToken
        /// The holder of a token with one of these scopes.
        case tokenWithOne(of: Set<APIScope>)

        /// The holder of a token with one of these scopes.
        static func token(_ scopes: APIScope...) -> Self { .tokenWithOne(of: Set(scopes)) }

        /// The scopes of which one is enough; nil if none is needed.
        var accepted: Set<APIScope>? {
            if case .tokenWithOne(let scopes) = self { scopes } else { nil }
        }
    }

    /// Describes a route.
    package init(
        _ method: Method, _ path: PathTemplate, scope: Scope, _ summary: String,
        parameters: [RouteParameter] = [], body: Schema? = nil, responses: [RouteResponse] = [],
        mediaTypes: [String] = ["application/json"], isLogged: Bool = false,
        handle: @escaping Handler
    ) {
        (self.method, self.path, self.scope, self.summary) = (method, path, scope, summary)
        (self.parameters, self.body, self.responses) = (parameters, body, responses)
        (self.mediaTypes, self.isLogged, self.handle) = (mediaTypes, isLogged, handle)
    }
}

/// A parameter of a path or of a query.
package struct RouteParameter: Hashable, Sendable {
    /// Where it is.
    package enum Place: String, Sendable {
        case path, query
    }

    /// Where it is.
    package let place: Place
    /// Its name.
    package let name: String
    /// What it means.
    package let summary: String
    /// Its value.
    package let schema: Schema

    /// Describes a parameter.
    package init(_ place: Place, _ name: String, _ summary: String, _ schema: Schema) {
        (self.place, self.name, self.summary, self.schema) = (place, name, summary, schema)
    }
}

/// An answer of a route.
package struct RouteResponse: Hashable, Sendable {
    /// The status code.
    package let status: Int
    /// When it is given.
    package let summary: String
    /// Its body; nil for problem details, or for none.
    package let schema: Schema?

    /// Describes an answer.
    package init(_ status: Int, _ summary: String, _ schema: Schema? = nil) {
        (self.status, self.summary, self.schema) = (status, summary, schema)
    }
}
