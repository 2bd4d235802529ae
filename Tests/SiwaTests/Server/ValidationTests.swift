import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// The daily validation of siwa-server. A day is a few minutes here: of the same length for the
/// server and for what a test expects.
@Suite(.blocking) struct ValidationTests {
    /// At this pace, twenty users take a few seconds, and no test lasts until the next pass.
    private static let often: JSON.Member = .init("validate", ["every": "9m", "rate": "20/s"])

    /// How often Apple was asked about each token.
    private static func asked(_ fixture: ServerFixture) async throws -> [String: Int] {
        let refreshes = try await fixture.apple.requests().filter {
            $0["grant_type"] == "refresh_token"
        }
        return Dictionary(
            refreshes.map { ($0["fingerprints"]?["refresh_token"]?.string ?? "", 1) },
            uniquingKeysWith: +)
    }

    private static func states(_ fixture: ServerFixture) throws -> [VaultState] {
        try fixture.vault.opened().values.flatMap { $0.map(\.state) }
    }

    /// The tokens that were checked and noted.
    private static func checked(_ fixture: ServerFixture) throws -> Int {
        try fixture.vault.vault().store.records(VaultFilter(), after: nil, limit: 1000).records
            .count { $0.checkedAt != nil }
    }

    @Test(.timeLimit(.minutes(10)), arguments: VaultBackend.available)
    func `replicas ask once about each user, and a killed one loses nobody`(
        _ backend: VaultBackend
    ) async throws {
        let count = 24
        let fixture = try await ServerFixture(backend, users: count)
        let tokens = try await fixture.vault.store(Array(1...count))
        // SQLite serves one process.
        let width = backend == .sqlite ? 1 : 2
        let replicas = try await Replicas(fixture, count: width, [Self.often])
        try await eventually("some tokens are checked", limit: .seconds(120)) {
            try Self.checked(fixture) >= count / 4
        }
        try await replicas.restart(0)
        try await eventually("all tokens are checked", limit: .seconds(240)) {
            try Self.checked(fixture) == count
        }
        // Everything would be asked about again now if the leases alone kept it from that.
        for number in 0..<width { try await replicas.restart(number) }
        try await Task.sleep(for: .seconds(3))
        let asked = try await Self.asked(fixture)
        #expect(Set(asked.keys) == tokens)
        // What was in flight when the replica was killed has no noted answer.
        #expect(asked.values.allSatisfy { $0 <= 2 } && asked.values.count { $0 > 1 } <= 4)
        #expect(try Self.states(fixture).allSatisfy { $0 == .active })
        print("validation: \(backend.rawValue), \(asked.values.count { $0 > 1 }) asked twice")
    }

    @Test(arguments: VaultBackend.available)
    func `a check that finds a dead token counts as the last validation`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend, users: 1)
        _ = try await fixture.vault.store([1])
        _ = try await fixture.apple.post(
            "notifications",
            ["type": "consent-revoked", "user": .string(fixture.vault.people.name(1))])
        let server = try await fixture.serve(fixture.listeners + [Self.often])
        try await eventually("the token is dead", limit: .seconds(60)) {
            try Self.states(fixture) == [.dead]
        }
        try await eventually("the last validation is known", limit: .seconds(60)) {
            try await server.metric("siwa_last_validation_timestamp_seconds") != nil
        }
        _ = try await server.stop()
    }

    @Test(.timeLimit(.minutes(10)), arguments: VaultBackend.available)
    func `a dead token is delivered once, outside its user's order`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend, users: 3)
        _ = try await fixture.vault.store([1, 2, 3])
        // Apple ends the session, and its notification does not arrive.
        _ = try await fixture.apple.post(
            "notifications",
            ["type": "consent-revoked", "user": .string(fixture.vault.people.name(2))])
        let application = try EventReceiver { _, _ in 204 }
        try fixture.apple.folder.write(
            "apple/webhook.secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        let server = try await fixture.serve(
            fixture.listeners + [
                Self.often,
                .init(
                    "deliver",
                    [
                        "url": .string(application.url), "secret_file": "webhook.secret",
                        "revocations": true,
                    ]),
            ])
        try await eventually("the event arrives", limit: .seconds(120)) { application.count >= 1 }
        let page = try await server.api("GET", "/v1/events?types=token.dead").json
        let event = try #require(page["events"]?.elements?.first)
        #expect(event["type"] == "token.dead" && event["event_time"] == nil)
        #expect(event["user_id"]?.string == fixture.vault.people.userID(2))
        #expect(event["client_id"] == "com.example.app")
        #expect(application.accepted.keys.first == event["jti"]?.string)
        // It is not one of Apple's events.
        let apples = try await server.api("GET", "/v1/events").json
        #expect(apples["events"]?.elements?.isEmpty == true)
        #expect(try Self.states(fixture).count { $0 == .dead } == 1)
        #expect(try await server.metric(#"siwa_validations_total{result="dead"}"#) == 1)
        try await eventually("the others are checked", limit: .seconds(60)) {
            try await server.metric(#"siwa_validations_total{result="active"}"#) == 2
        }
        let status = try await server.api("GET", "/v1/status").json
        let own = status["servers"]?.elements?.first?["validation"]
        #expect(own?["checked"] == 3 && own?["dead"] == 1 && own?["failed"] == 0, "\(status)")
        #expect(try await server.stop().ending == .exit(0))
        let again = try await fixture.serve()
        try await Task.sleep(for: .seconds(2))
        #expect(application.count == 1)
        #expect(try await again.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(10)), arguments: VaultBackend.available)
    func `an Apple that throttles is asked again, and no token is marked dead`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend, users: 6)
        let tokens = try await fixture.vault.store(Array(1...6))
        try await fixture.apple.post(
            "faults",
            [
                "endpoint": "/auth/token", "status": 429, "count": 5,
                "headers": ["Retry-After": "1"],
            ])
        let server = try await fixture.serve(fixture.listeners + [Self.often])
        try await eventually("all tokens are checked", limit: .seconds(120)) {
            try Self.checked(fixture) == 6
        }
        let refused = try await fixture.apple.requests().filter { $0["status"] == 429 }
        #expect(refused.count == 5)
        let accepted = try await fixture.apple.requests().filter {
            $0["grant_type"] == "refresh_token" && $0["status"] == 200
        }
        #expect(accepted.count == 6)
        #expect(
            Set(accepted.compactMap { $0["fingerprints"]?["refresh_token"]?.string }) == tokens)
        #expect(try Self.states(fixture).allSatisfy { $0 == .active })
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(.timeLimit(.minutes(10)), arguments: VaultBackend.available)
    func `an Apple that refuses everybody marks no token dead, and the status says so`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend, users: 24)
        _ = try await fixture.vault.store(Array(1...24))
        try await fixture.apple.post(
            "faults",
            ["endpoint": "/auth/token", "error": "invalid_grant", "count": 1000])
        let server = try await fixture.serve(fixture.listeners + [Self.often])
        try await eventually("it stops", limit: .seconds(120)) {
            let name = #"siwa_validation_stops_total{reason="too_many_refused"}"#
            return try await server.metric(name) == 1
        }
        #expect(try Self.states(fixture).allSatisfy { $0 == .active })
        #expect(try Self.checked(fixture) == 0)
        let status = try await server.api("GET", "/v1/status").body
        #expect(status.contains("The daily validation of com.example.app stopped: Apple refused"))
        let page = try await server.call("metrics", "GET", "/").body
        #expect(page.contains("The daily validation of com.example.app stopped: Apple refused"))
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `without the setting, nobody is asked about`() async throws {
        let fixture = try await ServerFixture(users: 2)
        _ = try await fixture.vault.store([1, 2])
        let server = try await fixture.serve(fixture.listeners)
        try await Task.sleep(for: .seconds(3))
        #expect(try await Self.asked(fixture).isEmpty)
        let status = try await server.api("GET", "/v1/status").json
        #expect(status["servers"]?.elements?.first?["validation"] == .null)
        #expect(try await server.stop().ending == .exit(0))
    }
}
