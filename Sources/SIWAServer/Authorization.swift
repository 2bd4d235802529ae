internal import HTTPServer
internal import Lifecycle
internal import ServerRecords

extension ServerContext {
    /// Returns the scopes of a route's caller.
    ///
    /// - Throws: ``Problem`` 401 without a valid token, 403 without the scope.
    func authorize(
        _ request: ServerRequest, for route: Route, _ options: Router.Options
    ) async throws(Problem) -> Set<APIScope> {
        // The permissions of a Unix socket decide who may call.
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
        if let accepted = route.scope.accepted, scopes.isDisjoint(with: accepted) {
            let needed = accepted.map(\.rawValue).sorted().joined(separator: "' or '")
            throw Problem(
                403, "forbidden", "the token lacks the scope '\(needed)'",
                hints: ["create one that has it: siwa-server token add NAME --scope SCOPE"])
        }
        return scopes
    }
}
