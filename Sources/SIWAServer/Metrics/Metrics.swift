internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords
internal import Synchronization

/// The counters of the process. The values of labels come only from tables in this program, so that
/// callers cannot create new ones.
final class Metrics: Sendable {
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
        var signatures: [String: Int] = [:]
        var signatureTimes = Histogram()
        var validations: [ValidationResult: Int] = [:]
        var validationStops: [ValidationStop: Int] = [:]
        /// Whether Apple refused the client of each profile in its last answer.
        var refusedProfiles: [String: Bool] = [:]
        var lastAnswer: ServerFacts.Answer?
        /// Of each endpoint whose last request had no answer that Apple gives while it works.
        var outages: [String: ServerFacts.Answer] = [:]
        /// The endpoints of which only one request failed, because its connection was cut: the other side
        /// may have closed one that was not used for a while.
        var suspected: Set<String> = []
        var lastRefusal: ServerFacts.Answer?
    }

    private let state = Mutex(State())

    /// Creates the counters. The ones in alert rules start at 0, because `rate` and `increase` miss
    /// the first event of a counter that starts at 1.
    ///
    /// - Parameter path: the path to which Apple posts.
    init(notificationPath path: String = "/apple/notifications") {
        state.withLock { state in
            for status in [200, 400, 401, 403, 413, 503] {
                state.requests[
                    Requests(listener: .notifications, path: path, status: status)] = 0
            }
            for type in Self.knownTypes.map(\.rawValue) + ["other"] {
                for result in ["received", "known"] {
                    state.notifications[Pair(first: type, second: result)] = 0
                }
            }
            for result in ["unverified", "unavailable", "malformed", "invalid_signature"] {
                state.notifications[Pair(first: "other", second: result)] = 0
            }
            for outcome in ["signed"] + SignerFailure.Kind.allCases.map(\.label)
            where outcome != SignerFailure.Kind.key.label {
                state.signatures[outcome] = 0
            }
            for result in ValidationResult.allCases { state.validations[result] = 0 }
            for stop in ValidationStop.allCases { state.validationStops[stop] = 0 }
            for endpoint in ["token", "revoke", "keys"] {
                for outcome in ["ok", "invalid_client", "invalid_grant"]
                where endpoint != "keys" || outcome == "ok" {
                    state.appleRequests[Pair(first: endpoint, second: outcome)] = 0
                }
            }
        }
    }

    private static let knownTypes: [NotificationEvent.Kind] = [
        .consentRevoked, .accountDeleted, .emailEnabled, .emailDisabled,
    ]

    /// Counts an answered request.
    ///
    /// - Parameter path: the template of its route; nil if no route matches.
    func countRequest(
        on listener: RouteTable.Listener, _ path: PathTemplate?, status: Int, _ time: Duration
    ) {
        let key = Requests(listener: listener, path: path?.description ?? "other", status: status)
        state.withLock { state in
            state.requests[key, default: 0] += 1
            state.requestTimes[listener, default: Histogram()].observe(time)
        }
    }

    /// Counts a notification.
    ///
    /// - Parameter type: the type of the event; nil unless the notification was verified.
    func countNotification(_ type: NotificationEvent.Kind?, _ result: String) {
        let label = type.flatMap { Self.knownTypes.contains($0) ? $0.rawValue : nil } ?? "other"
        state.withLock { $0.notifications[Pair(first: label, second: result), default: 0] += 1 }
    }

    /// Notes an answer of Apple, or that there was none.
    func note(_ answer: ServerFacts.Answer) {
        state.withLock { state in
            state.lastAnswer = answer
            if answer.isOutage {
                let isFirst = state.outages.updateValue(answer, forKey: answer.endpoint) == nil
                if isFirst, answer.outcome == "\(TransportError.Kind.cut)" {
                    state.suspected.insert(answer.endpoint)
                } else {
                    state.suspected.remove(answer.endpoint)
                }
            } else {
                state.suspected.remove(answer.endpoint)
                // An endpoint that answers shows that the network works, but nothing of another one
                // that Apple answered with a server error.
                state.outages[answer.endpoint] = nil
                state.outages = state.outages.filter { $0.value.hasAnswer }
            }
            if answer.outcome == "invalid_client" { state.lastRefusal = answer }
        }
    }

    /// The endpoints that did not work when they were last asked, by their names.
    var outages: [ServerFacts.Answer] {
        state.withLock { $0.outages }.values.sorted { $0.endpoint < $1.endpoint }
    }

    /// Adds what was measured to the facts.
    func describe(_ facts: inout ServerFacts) {
        let state = state.withLock { $0 }
        (facts.lastAnswer, facts.lastRefusal) = (state.lastAnswer, state.lastRefusal)
        facts.outages = outages.filter { !state.suspected.contains($0.endpoint) }
        facts.appleTimes = Histogram(state.appleTimes.values).times
        facts.requestTimes = Histogram(state.requestTimes.values).times
    }

    /// Notes whether Apple refused or accepted the client of a profile.
    func noteRefusal(of profile: String, _ isRefused: Bool) {
        state.withLock { $0.refusedProfiles[profile] = isRefused }
    }

    /// Whether Apple refused the client of a profile, and has not accepted it since.
    func isRefused(_ profile: String) -> Bool {
        state.withLock { $0.refusedProfiles[profile] ?? false }
    }

    /// Whether Apple has accepted or refused the client of a profile.
    func isTried(_ profile: String) -> Bool {
        state.withLock { $0.refusedProfiles[profile] != nil }
    }

    /// Forgets which clients Apple refused or accepted: they have other keys, perhaps.
    func forgetClients() { state.withLock { $0.refusedProfiles = [:] } }

    /// Counts a request to Apple.
    ///
    /// - Parameters:
    ///   - endpoint: `token`, `revoke` or `keys`.
    ///   - outcome: `ok`, Apple's error code, a status, or why there was no response.
    func countAppleRequest(_ endpoint: String, outcome: String, _ time: Duration) {
        state.withLock { state in
            state.appleRequests[Pair(first: endpoint, second: outcome), default: 0] += 1
            state.appleTimes[endpoint, default: Histogram()].observe(time)
        }
    }

    /// Counts a request to a signer.
    func countSignature(_ failure: SignerFailure?, _ time: Duration) {
        state.withLock { state in
            state.signatures[failure?.kind.label ?? "signed", default: 0] += 1
            state.signatureTimes.observe(time)
        }
    }

    /// Counts a check of the daily validation.
    func countValidation(_ result: ValidationResult) {
        state.withLock { $0.validations[result, default: 0] += 1 }
    }

    /// Counts a run of the daily validation that ended early.
    func countValidationStop(_ reason: ValidationStop) {
        state.withLock { $0.validationStops[reason, default: 0] += 1 }
    }

    /// The current values of all counters.
    func families() -> [MetricFamily] {
        let state = state.withLock { $0 }
        return [
            MetricFamily(
                "siwa_http_requests_total", .counter, "Answered requests.",
                state.requests.map {
                    .init(
                        [
                            ("listener", $0.key.listener.rawValue), ("path", $0.key.path),
                            ("status", String($0.key.status)),
                        ], $0.value)
                }),
            MetricFamily(
                "siwa_http_request_duration_seconds", "Time from a request to its response.",
                state.requestTimes.map { ([("listener", $0.key.rawValue)], $0.value) }),
            MetricFamily(
                "siwa_notifications_total", .counter, "Notifications, by type and result.",
                Self.samples(state.notifications, "type", "result")),
            MetricFamily(
                "siwa_apple_requests_total", .counter,
                "Requests to Apple, by endpoint and outcome.",
                Self.samples(state.appleRequests, "endpoint", "outcome")),
            MetricFamily(
                "siwa_apple_request_duration_seconds",
                "Time from a request to Apple to its response.",
                state.appleTimes.map { ([("endpoint", $0.key)], $0.value) }),
            MetricFamily(
                "siwa_signer_requests_total", .counter,
                "Requests to signers for a client_secret, by outcome.",
                state.signatures.map { .init([("outcome", $0.key)], $0.value) }),
            MetricFamily(
                "siwa_signer_duration_seconds", "Time from a request to a signer to its answer.",
                [([], state.signatureTimes)]),
            MetricFamily(
                "siwa_validations_total", .counter,
                "Stored tokens that the daily validation checked, by result.",
                state.validations.map { .init([("result", $0.key.rawValue)], $0.value) }),
            MetricFamily(
                "siwa_validation_stops_total", .counter,
                "Runs of the daily validation that ended early, by reason.",
                state.validationStops.map { .init([("reason", $0.key.rawValue)], $0.value) }),
        ]
    }

    private static func samples(
        _ counts: [Pair: Int], _ first: String, _ second: String
    ) -> [MetricFamily.Sample] {
        counts.map { .init([(first, $0.key.first), (second, $0.key.second)], $0.value) }
    }
}
