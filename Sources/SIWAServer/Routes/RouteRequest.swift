import SIWAHTTPServer
import SIWAJOSE
internal import SIWALifecycle
import SIWAServerRecords

/// A request to a route, after its parts were read.
final class RouteRequest: Sendable {
    /// The id of the request in logs and in `X-Request-Id`.
    let id: String
    /// The values of the path's template and of the query.
    let parameters: [String: String]
    /// The body, an object with known members only; empty for routes without a body.
    let body: JSON
    /// The scopes of the caller.
    let scopes: Set<APIScope>
    let http: ServerRequest
    /// What it is about, for the log.
    let subject: RequestSubject

    /// Creates a request.
    init(
        id: String, parameters: [String: String] = [:], body: JSON = [:],
        scopes: Set<APIScope> = APIScope.all, http: ServerRequest,
        subject: RequestSubject = RequestSubject()
    ) {
        (self.id, self.parameters, self.body) = (id, parameters, body)
        (self.scopes, self.http, self.subject) = (scopes, http, subject)
    }

    /// A parameter of the path or of the query; nil if it is absent.
    subscript(name: String) -> String? { parameters[name] }

    /// Whether a media type is acceptable to the caller (RFC 9110 §12.5.1).
    func accepts(_ mediaType: String) -> Bool {
        AcceptedTypes(http.fields.list("accept")).quality(of: mediaType) > 0
    }

    /// The media type that the caller prefers.
    func preferred(among mediaTypes: [String]) -> String? {
        AcceptedTypes(http.fields.list("accept")).preferred(among: mediaTypes)
    }
}
