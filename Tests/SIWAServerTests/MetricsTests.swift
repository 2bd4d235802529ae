import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer
@testable import SIWAServerRecords

@Suite struct MetricsTests {
    @Test func `a histogram counts each time in its bucket and in all larger ones`() {
        var histogram = Histogram()
        for milliseconds in [1, 2, 400, 60_000] {
            histogram.observe(.milliseconds(milliseconds))
        }
        let lines = histogram.lines("t", "a=\"b\"")
        #expect(lines.contains("t_bucket{a=\"b\",le=\"0.001\"} 1"))
        #expect(lines.contains("t_bucket{a=\"b\",le=\"0.0025\"} 2"))
        #expect(lines.contains("t_bucket{a=\"b\",le=\"30.0\"} 3"))
        #expect(lines.contains("t_bucket{a=\"b\",le=\"+Inf\"} 4"))
        #expect(lines.contains("t_count{a=\"b\"} 4"))
    }

    @Test func `unknown events share a label`() {
        let metrics = Metrics()
        for kind in ["consent-revoked", "new-in-2030", "evil\"\n"] {
            metrics.countNotification(NotificationEvent.Kind(rawValue: kind), "received")
        }
        let text = metrics.families().flatMap(\.lines).joined(separator: "\n")
        #expect(
            text.contains("siwa_notifications_total{type=\"other\",result=\"received\"} 2"))
        #expect(!text.contains("evil"))
    }

    @Test func `the metric names the profile whose client Apple refused last`() async throws {
        let metrics = Metrics()
        let answers: [(Int, String, Bool)] = [
            (400, #"{"error":"invalid_client"}"#, true), (503, "", true),
            (200, #"{"access_token":"a"}"#, false),
            (400, #"{"error":"invalid_grant"}"#, false),
            (401, #"{"error":"invalid_client"}"#, true),
            // Apple looks the code up first.
            (400, #"{"error":"invalid_grant"}"#, true),
        ]
        let request = HTTPRequest(
            method: .post, url: "https://appleid.apple.com/auth/token")
        for (status, body, isRefused) in answers {
            let meter = AppleRequestMeter(
                HookedTransport(base: NoTransport()) { _, _ in
                    HTTPResponse(status: status, body: Array(body.utf8))
                }, of: "web", metrics,
                Clocks(now: { NumericDate(1_800_000_000) }, timekeeper: .system))
            _ = try await meter.send(request, timeout: .seconds(1))
            #expect(metrics.isRefused("web") == isRefused, "\(status) \(body)")
            #expect(!metrics.isRefused("app"))
        }
    }

    @Test(arguments: [
        (403, "<html>", "token", "unreadable_403", true),
        (200, "<html>", "token", "unreadable_200", true),
        (302, "", "keys", "unreadable_302", true), (429, "", "token", "status_429", true),
        (502, "<html>", "revoke", "status_502", true), (200, "", "revoke", "ok", false),
        (200, "<html>", "revoke", "unreadable_200", true),
        (200, "{}", "token", "unreadable_200", true),
        (200, #"{"access_token":"a"}"#, "token", "ok", false),
        (200, #"{"keys":[]}"#, "keys", "unreadable_200", true),
        (400, #"{"error":"new_in_2030"}"#, "token", "status_400", false),
        (400, #"{"error":"invalid_grant"}"#, "token", "invalid_grant", false),
    ])
    func `an answer that is not Apple's is an outage, whatever its status`(
        status: Int, body: String, endpoint: String, outcome: String, isOutage: Bool
    ) async throws {
        let metrics = Metrics()
        let meter = AppleRequestMeter(
            HookedTransport(base: NoTransport()) { _, _ in
                HTTPResponse(
                    status: status,
                    fields: body == "<html>" ? [HTTPField("Content-Type", "text/html")] : [],
                    body: Array(body.utf8))
            }, of: "web", metrics,
            Clocks(now: { NumericDate(1_800_000_000) }, timekeeper: .system))
        _ = try await meter.send(
            HTTPRequest(method: .post, url: "https://appleid.apple.com/auth/\(endpoint)"),
            timeout: .seconds(1))
        var facts = ServerFacts()
        metrics.describe(&facts)
        #expect(facts.lastAnswer?.outcome == outcome)
        #expect(facts.outages.map(\.endpoint) == (isOutage ? [endpoint] : []))
    }
}

/// Sends nothing.
private struct NoTransport: Transport {
    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse { HTTPResponse(status: 500) }
}
