import Lifecycle
import Testing

@testable import SIWAServer

@Suite struct MetricsTests {
    @Test func `a histogram counts each time in its bucket and all larger ones`() {
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

    @Test func `the profile is named whose client Apple refused last`() async throws {
        let metrics = Metrics()
        let answers: [(Int, String, Bool)] = [
            (400, #"{"error":"invalid_client"}"#, true), (503, "", true), (200, "{}", false),
            (401, #"{"error":"invalid_client"}"#, true),
            (400, #"{"error":"invalid_grant"}"#, false),
        ]
        let request = HTTPRequest(
            method: .post, url: "https://appleid.apple.com/auth/token")
        for (status, body, isRefused) in answers {
            let meter = AppleRequestMeter(
                HookedTransport(base: NoTransport()) { _, _ in
                    HTTPResponse(status: status, body: Array(body.utf8))
                }, of: "web", metrics, .system)
            _ = try await meter.send(request, timeout: .seconds(1))
            #expect(metrics.isRefused("web") == isRefused, "\(status) \(body)")
            #expect(!metrics.isRefused("app"))
        }
    }

    @Test func `labels are escaped`() {
        let family = MetricFamily("m", .gauge, "A gauge.", [.init([("a", "b\"\\\n")], 1)])
        #expect(family.lines.last == #"m{a="b\"\\\n"} 1"#)
    }

    @Test func `labels are escaped by scalars, not by characters`() {
        // An accent and a carriage return are one character with what they follow or precede.
        let family = MetricFamily("m", .gauge, "A gauge.", [.init([("a", "\"\u{301}\r\n")], 1)])
        #expect(
            family.lines.last?.unicodeScalars.elementsEqual(
                "m{a=\"\\\"\u{301}\r\\n\"} 1".unicodeScalars) == true)
    }
}

/// Sends nothing.
private struct NoTransport: Transport {
    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse { HTTPResponse(status: 500) }
}
