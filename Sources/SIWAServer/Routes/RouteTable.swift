internal import ServerRecords

/// Every route of one listener.
package struct RouteTable: Sendable {
    /// The listener.
    package let listener: Listener
    /// The routes; of two that match a path, the first one is asked.
    package let routes: [Route]

    /// The listeners, by whom they are for.
    package enum Listener: String, Sendable, CaseIterable {
        /// For Apple, behind a reverse proxy.
        case notifications
        /// For the application.
        case api
        /// For monitoring.
        case metrics
    }

    /// What the listener for Apple answers.
    ///
    /// - Parameter path: where Apple posts to.
    package static func notifications(path: String) -> Self {
        Self(listener: .notifications, routes: [.receiveNotification(at: path)])
    }

    /// What the listener for the application answers.
    package static let api = Self(listener: .api, routes: [.statusPage(scope: .token(.read))])

    /// What the listener for monitoring answers.
    package static let metrics = Self(
        listener: .metrics,
        routes: [.metrics, .health, .readiness, .statusPage(scope: .open)])

    /// What a path leads to.
    enum Match {
        /// A route, and the values in the path.
        case route(Route, [String: String])
        /// Other methods of the path's routes, as `Allow` lists them.
        case otherMethod(PathTemplate, allowed: [String])
        /// Nothing.
        case nothing
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
        let methods = allowed.flatMap { $0.method == .get ? ["GET", "HEAD"] : ["POST"] }
        return .otherMethod(first.path, allowed: methods)
    }
}
