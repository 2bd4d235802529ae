internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWALifecycle
import SIWAServerRecords

extension ServerContext {
    /// Whether the caller of a route has to show a token. The permissions of a Unix socket control
    /// access to it.
    func needsToken(for route: Route, _ options: Router.Options) -> Bool {
        options.requiresToken && route.scope != .open
    }

    /// Returns the scopes of the caller of a route that is not open.
    ///
    /// - Throws: ``Problem`` 401 without a valid token, 403 without the scope.
    func authorize(
        _ request: ServerRequest, for route: Route
    ) async throws(Problem) -> Set<APIScope> {
        let field = try request.authorization
        let scopes: Set<APIScope>
        do {
            scopes = try await tokens.scopes(field)
        } catch {
            var problem = Problem(error)
            if problem.status == .unauthorized {
                problem.fields = [HTTPField("WWW-Authenticate", "Bearer realm=\"siwa\"")]
            }
            throw problem
        }
        if let accepted = route.scope.accepted, scopes.isDisjoint(with: accepted) {
            let needed = accepted.map(\.rawValue).sorted().joined(separator: "' or '")
            throw Problem(
                .forbidden, .forbidden, "the token lacks the scope '\(needed)'",
                hints: ["create one that has it: siwa-server token add NAME --scope SCOPE"])
        }
        return scopes
    }
}

extension ServerRequest {
    /// The value of `Authorization`; nil without it.
    ///
    /// - Throws: ``Problem`` 400 if there are several (RFC 6750 §3.1): a proxy may have looked at
    ///   another one.
    fileprivate var authorization: String? {
        get throws(Problem) {
            var value: String?
            for field in fields where field.isNamed("authorization") {
                guard value == nil else { throw Self.severalAuthorizations }
                value = field.value
            }
            return value
        }
    }

    private static var severalAuthorizations: Problem {
        var problem = Problem.malformed("the field Authorization is given more than once")
        problem.fields = [
            HTTPField(
                "WWW-Authenticate", "Bearer realm=\"siwa\", error=\"invalid_request\"")
        ]
        return problem
    }
}

extension APIScope {
    /// All scopes.
    static let all = Set(allCases)
}
