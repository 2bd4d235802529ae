internal import HTTPServer
internal import Lifecycle
internal import ServerRecords

extension ServerContext {
    /// What the caller of a route may do.
    ///
    /// - Throws: ``Problem`` 401 without a usable token, 403 without the scope.
    func authorize(
        _ request: ServerRequest, for route: Route, _ options: Router.Options
    ) async throws(Problem) -> Set<APIScope> {
        // Who may open a Unix socket may call.
        guard options.requiresToken, route.scope != .open else { return Set(APIScope.allCases) }
        let scopes: Set<APIScope>
        do {
            scopes = try await tokens.scopes(request.fields["authorization"])
        } catch {
            var problem = Problem(error)
            if problem.status == 401 {
                problem.fields = [HTTPField("WWW-Authenticate", "Bearer realm=\"siwa\"")]
            }
            throw problem
        }
        if case .token(let needed) = route.scope, !scopes.contains(needed) {
            throw Problem(
                403, "forbidden", "the token lacks the scope '\(needed.rawValue)'",
                hints: ["add a token with --scope \(needed.rawValue): siwa-server token add"])
        }
        return scopes
    }
}
