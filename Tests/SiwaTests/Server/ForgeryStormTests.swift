import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Forged notifications that are posted as fast as possible.
@Suite(.blocking) struct ForgeryStormTests {
    @Test
    func `forgeries fill neither the log nor the inbox, and genuine notifications are stored`()
        async throws
    {
        let (fixture, forger) = (try await ServerFixture(), try NotificationSigner())
        _ = try await fixture.vault.store([1])
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/keys", "status": 503, "count": 1_000_000])
        let server = try await fixture.serve(fixture.listeners)
        let genuine = "{\"payload\":\"\(try await fixture.payload("consent-revoked"))\"}"
        #expect(try await server.post(genuine).status == 200)
        for number in 1...999 {
            let body = try forger.body(
                "forged-\(number)", about: "001234.\(number).0001", key: "INVENTED\(number)")
            #expect(try await server.post(body).status == 200)
        }
        let more = try forger.body("more", about: "001234.0.0001", key: "ANOTHER")
        for _ in 1...100 { #expect(try await server.post(more).status == 503) }
        try await fixture.apple.post("faults/clear")
        try await eventually("the genuine one is received, the forged ones are deleted") {
            try await fixture.inbox().map { $0["state"]?.string } == ["none"]
        }
        let later = try await fixture.payload("email-disabled", of: 2)
        #expect(try await server.post("{\"payload\":\"\(later)\"}").status == 200)
        for _ in 1...100 {
            #expect(try await server.post("{\"payload\":\"\(Self.altered(later))\"}").status == 401)
        }
        #expect(try await server.stop().ending == .exit(0))
        let lines = try server.log()
        #expect(lines.count < 150, "\(lines.count) lines")
        let omitted = lines.filter { $0["event"] == "lines_omitted" }
        func count(_ name: String, _ value: JSON) -> Int {
            omitted.filter { $0[name] == value }.compactMap { $0["count"]?.integer }.reduce(0, +)
        }
        #expect(count("code", "too_many_unverified") == 80)
        #expect(count("code", "invalid_signature") == 80)
        #expect(count("result", "unverified") == 980)
        #expect(count("of", "unverified_forged") == 979)
        // What was received is always logged.
        #expect(lines.count { $0["result"] == "received" } == 1)
    }

    /// The same token with another signature.
    private static func altered(_ token: String) -> String {
        let parts = token.split(separator: ".").map(String.init)
        let first = parts[2].hasPrefix("A") ? "B" : "A"
        return "\(parts[0]).\(parts[1]).\(first)\(parts[2].dropFirst())"
    }
}
