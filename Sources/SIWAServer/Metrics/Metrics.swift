internal import Lifecycle
internal import Synchronization

/// What the process has counted since it started. Labels come from tables of this program alone, so
/// that nobody outside can make any.
package final class Metrics: Sendable {
    private struct Requests: Hashable {
        let listener: RouteTable.Listener
        let path: String
        let status: Int
    }

    private struct Pair: Hashable {
        let first: String
        let second: String
    }

    private struct State {
        var requests: [Requests: Int] = [:]
        var requestTimes: [RouteTable.Listener: Histogram] = [:]
        var notifications: [Pair: Int] = [:]
        var appleRequests: [Pair: Int] = [:]
        var appleTimes: [String: Histogram] = [:]
    }

    private let state = Mutex(State())

    /// Counts from zero.
    package init() {}

    /// A request was answered.
    ///
    /// - Parameter path: the template of its route; nil if it has none.
    func countRequest(
        on listener: RouteTable.Listener, _ path: PathTemplate?, status: Int, _ time: Duration
    ) {
        let key = Requests(listener: listener, path: path?.description ?? "other", status: status)
        state.withLock { state in
            state.requests[key, default: 0] += 1
            state.requestTimes[listener, default: Histogram()].observe(time)
        }
    }

    /// A notification was judged.
    ///
    /// - Parameter type: of the event, once it is known to be Apple's.
    func countNotification(_ type: NotificationEvent.Kind?, _ result: String) {
        let known: [NotificationEvent.Kind] = [
            .consentRevoked, .accountDeleted, .emailEnabled, .emailDisabled,
        ]
        let label = type.flatMap { known.contains($0) ? $0.rawValue : nil } ?? "other"
        state.withLock { $0.notifications[Pair(first: label, second: result), default: 0] += 1 }
    }

    /// A request to Apple ended.
    ///
    /// - Parameters:
    ///   - endpoint: `token`, `revoke` or `keys`.
    ///   - outcome: `ok`, Apple's error code, a status, or why there was no answer.
    package func countAppleRequest(_ endpoint: String, outcome: String, _ time: Duration) {
        state.withLock { state in
            state.appleRequests[Pair(first: endpoint, second: outcome), default: 0] += 1
            state.appleTimes[endpoint, default: Histogram()].observe(time)
        }
    }

    /// What was counted, as Prometheus reads it.
    func families() -> [MetricFamily] {
        let state = state.withLock { $0 }
        return [
            MetricFamily(
                "siwa_http_requests_total", .counter, "Requests that were answered.",
                state.requests.map {
                    .init(
                        [
                            ("listener", $0.key.listener.rawValue), ("path", $0.key.path),
                            ("status", String($0.key.status)),
                        ], $0.value)
                }),
            MetricFamily(
                "siwa_http_request_duration_seconds", "From the request to its answer.",
                state.requestTimes.map { ([("listener", $0.key.rawValue)], $0.value) }),
            MetricFamily(
                "siwa_notifications_total", .counter, "Notifications, by what became of them.",
                Self.samples(state.notifications, "type", "result")),
            MetricFamily(
                "siwa_apple_requests_total", .counter, "Requests to Apple, by how they ended.",
                Self.samples(state.appleRequests, "endpoint", "outcome")),
            MetricFamily(
                "siwa_apple_request_duration_seconds", "From a request to Apple to its answer.",
                state.appleTimes.map { ([("endpoint", $0.key)], $0.value) }),
        ]
    }

    private static func samples(
        _ counts: [Pair: Int], _ first: String, _ second: String
    ) -> [MetricFamily.Sample] {
        counts.map { .init([(first, $0.key.first), (second, $0.key.second)], $0.value) }
    }
}
