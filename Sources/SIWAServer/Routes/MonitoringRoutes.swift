internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension Route {
    /// `GET /metrics`.
    static let metrics = Route(
        .get, "/metrics", scope: .open, "The metrics, for Prometheus.",
        mediaTypes: []
    ) { _, context in
        let families = context.metrics.families() + (await context.gauges().families())
        let lines = families.flatMap(\.lines).joined(separator: "\n") + "\n"
        return .text(lines, "text/plain; version=0.0.4; charset=utf-8")
    }

    /// `GET /healthz`: whether the process responds.
    static let health = Route(
        .get, "/healthz", scope: .open, "Whether the process responds.", mediaTypes: []
    ) { _, _ in .text("ok\n") }

    /// `GET /readyz`: whether the settings, the key and the database can be used.
    static let readiness = Route(
        .get, "/readyz", scope: .open, "Whether the server is ready.", mediaTypes: []
    ) { _, context in
        let readiness = context.readiness()
        return .text(readiness.text, status: readiness.isReady ? 200 : 503)
    }
}
