internal import SIWAJOSE
internal import SIWAServerRecords

/// The routes of one listener.
struct RouteTable: Sendable {
    /// The listener that serves the routes.
    let listener: Listener
    /// The routes; the first one that matches is used.
    let routes: [Route]

    /// The listeners, named for their callers.
    enum Listener: String, Sendable, CaseIterable {
        /// For Apple, behind a reverse proxy.
        case notifications
        /// For the application.
        case api
        /// For monitoring.
        case metrics
    }

    /// The routes for Apple.
    ///
    /// - Parameter path: the path to which Apple posts.
    static func notifications(path: String) -> Self {
        Self(listener: .notifications, routes: [.receiveNotification(at: path)])
    }

    /// The routes for the application.
    static let api: RouteTable = RouteTable(
        listener: .api,
        routes: [
            .exchange, .refresh, .revoke, .revocations, .revocation, .events, .verify, .secret,
            .user,
            .eraseUser, .status, .openAPI, .statusPage(scope: .token(.read)),
        ])

    /// The routes for monitoring.
    static let metrics = Self(
        listener: .metrics,
        routes: [.metrics, .health, .readiness, .statusPage(scope: .open)])

    /// The result of a lookup.
    enum Match {
        /// A route, and the values in the path.
        case route(Route, [String: String])
        /// The path matches with other methods, which `Allow` lists.
        case otherMethod(PathTemplate, allowed: [String])
        /// No route matches.
        case nothing
    }

    /// The route whose path is exactly the target, as for nearly all requests with a body; nil if
    /// the target must be parsed.
    func route(_ method: String, at target: String) -> Route? {
        routes.first {
            $0.path.isFixed && $0.path.description.isExactly(target)
                && $0.method.rawValue == method
        }
    }

    /// Finds the route of a request. HEAD finds the route of GET.
    func match(_ method: String, _ path: [String]) -> Match {
        let wanted = method == "HEAD" ? Route.Method.get.rawValue : method
        var allowed: [Route] = []
        for route in routes {
            guard let values = route.path.values(of: path) else { continue }
            if route.method.rawValue == wanted { return .route(route, values) }
            allowed.append(route)
        }
        guard let first = allowed.first else { return .nothing }
        let methods = allowed.flatMap { route in
            [route.method.rawValue] + (route.method == .get ? ["HEAD"] : [])
        }
        return .otherMethod(first.path, allowed: methods)
    }
}
