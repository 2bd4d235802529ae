import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// Notifications over real sockets into real databases.
@Suite struct ReceivingTests {
    @Test(arguments: VaultBackend.available)
    func `a genuine notification is stored once, and changes the state of the user's tokens`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2])
        let server = try await fixture.serve(fixture.listeners)
        let statuses = try await fixture.notify(
            "consent-revoked", at: try server.notificationURL, [.init("copies", 20)])
        #expect(statuses == ["200": 20])
        let inbox = try await fixture.inbox()
        #expect(inbox.map { $0["type"]?.string } == ["consent-revoked"])
        #expect(inbox.map { $0["state"]?.string } == ["none"])
        #expect(inbox.first?["user_id"]?.string == fixture.vault.people.userID(1))
        let states = try fixture.vault.opened().mapValues { $0.map(\.state) }
        #expect(states[fixture.vault.user(1)] == [.consentRevoked])
        #expect(states[fixture.vault.user(2)] == [.active])
        let name = "siwa_notifications_total{type=\"consent-revoked\",result="
        #expect(try await server.metric("\(name)\"received\"}") == 1)
        #expect(try await server.metric("\(name)\"known\"}") == 19)
        #expect(try await server.stop().ending == .exit(0))
    }

    /// The same token with another signature.
    private static func forged(_ token: String) -> String {
        let parts = token.split(separator: ".").map(String.init)
        let first = parts[2].hasPrefix("A") ? "B" : "A"
        return "\(parts[0]).\(parts[1]).\(first)\(parts[2].dropFirst())"
    }

    @Test func `notifications that Apple did not sign are refused, and nothing is stored`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let genuine = try await fixture.payload("email-disabled")
        let forged = Self.forged(genuine)
        let long = String(repeating: "a", count: 70_000)
        let rows: [(String, Int)] = [
            ("", 400), ("{", 400), ("[]", 400), ("{\"payload\":1}", 400), (genuine, 400),
            ("{\"payload\":\"x\"}", 400), ("{\"payload\":\"\(forged)\"}", 401), (long, 413),
        ]
        for (body, status) in rows {
            let answer = try await server.post(body)
            #expect(answer.status == status && answer.body.isEmpty, "\(body.prefix(20)): \(answer)")
        }
        let put = try await server.call("notifications", "PUT", "/apple/notifications")
        #expect(put.status == 405 && put["Allow"] == "POST")
        for path in ["/", "/metrics", "/v1/events", "/apple", "/apple/notifications/"] {
            #expect(try await server.call("notifications", "GET", path).status == 404)
        }
        #expect(try await fixture.inbox().isEmpty)
        #expect(try await server.post("{\"payload\":\"\(genuine)\"}").status == 200)
        #expect(try await fixture.inbox().count == 1)
    }

    @Test func `a notification of another app is refused with 403`() async throws {
        let fixture = try await ServerFixture()
        let config = try JSON(try fixture.apple.folder.contents("apple/config.json"))
        let app = try #require(config["profiles"]?["app"]?.members)
        let other = app.map { $0.name == "client_id" ? .init("client_id", "com.example.web") : $0 }
        try fixture.apple.folder.write(
            "apple/server.json",
            JSON.object([
                .init("profiles", ["other": .object(other)]),
                .init("server", .object(fixture.listeners)),
            ]).text)
        let server = try await fixture.serve()
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        #expect(try await server.post(body).status == 403)
        let message = try server.log("request").last?["message"]?.string
        #expect(message?.contains("com.example.app") == true)
        #expect(try await fixture.inbox().isEmpty)
    }

    @Test func `an event with an impossible time is refused, and the others are listed`()
        async throws
    {
        let fixture = try await ServerFixture()
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        let server = try await fixture.serve(
            fixture.listeners + [.init("jwks_file", "keys.json")])
        let odd = try signer.body("odd", about: "001234.a.0001", at: 253_402_300_800_000)
        #expect(try await server.post(odd).status == 401)
        let good = try signer.body("good", about: "001234.a.0001", at: 253_402_300_799_000)
        #expect(try await server.post(good).status == 200)
        #expect(try await fixture.inbox().map { $0["jti"] } == ["good"])
    }

    @Test func `a notification is stored unverified until Apple's keys are fetched`()
        async throws
    {
        let fixture = try await ServerFixture()
        _ = try await fixture.vault.store([1])
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/keys", "status": 503, "count": 1_000_000])
        let server = try await fixture.serve(fixture.listeners)
        let payload = try await fixture.payload("consent-revoked")
        let body = "{\"payload\":\"\(payload)\"}"
        #expect(try await server.post(body).status == 200)
        #expect(try await server.post(body).status == 200)
        let forged = Self.forged(payload)
        #expect(try await server.post("{\"payload\":\"\(forged)\"}").status == 200)
        #expect(
            try await fixture.inbox().map { $0["state"]?.string } == ["unverified", "unverified"])
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        try await fixture.apple.post("faults/clear")
        try await eventually("the genuine one is received, the forged one deleted") {
            try await fixture.inbox().map { $0["state"]?.string } == ["none"]
        }
        #expect(try fixture.vault.opened().values.flatMap { $0.map(\.state) } == [.consentRevoked])
        #expect(try await server.post(body).status == 200)
        #expect(try await fixture.inbox().count == 1)
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
    func `while the database is unavailable, nothing is acknowledged`() async throws {
        let postgres = try await PostgresServer()
        let fixture = try await ServerFixture(.postgres, on: postgres)
        let server = try await fixture.serve(fixture.listeners)
        let body = "{\"payload\":\"\(try await fixture.payload("email-disabled"))\"}"
        try await postgres.crash()
        let refused = try await server.post(body)
        #expect(refused.status == 503 && refused["Retry-After"] != nil, "\(refused)")
        #expect(try await server.call("metrics", "GET", "/healthz").status == 200)
        try await eventually("a heartbeat is missing") {
            try await server.call("metrics", "GET", "/readyz").status == 503
        }
        try await postgres.start()
        try await eventually("the same notification is accepted") {
            try await server.post(body).status == 200
        }
        #expect(try await fixture.inbox().count == 1)
        try await eventually("a heartbeat is written") {
            try await server.call("metrics", "GET", "/readyz").status == 200
        }
    }
}
