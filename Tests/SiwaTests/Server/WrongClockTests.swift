import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// The real programs on a machine whose clock differs from Apple's: the emulator's clock is moved.
@Suite(.blocking) struct WrongClockTests {
    /// A minute and a quarter is more than the tolerated skew.
    private static let offsets = [75, 120, -120, 3600, -90_000]

    @Test(arguments: VaultBackend.available)
    func `notifications and sign-ins are accepted, and the status shows how wrong the clock is`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend, users: Self.offsets.count)
        try await fixture.apple.post("switches", ["secret_clock": "real"])
        try await fixture.apple.post("clock", ["offset": .integer(Self.offsets[0])])
        let server = try await fixture.serve(fixture.listeners)
        for (index, offset) in Self.offsets.enumerated() {
            let user = index + 1
            try await fixture.apple.post("clock", ["offset": .integer(offset)])
            let code = try await fixture.code(of: user, nonce: "n")
            let answer = try await server.api(
                "POST", "/v1/exchange", ["code": .string(code), "nonce": "n"])
            #expect(answer.status == 200, "\(offset): \(answer)")
            #expect(try answer.json["stored"] == true)
            let skew = try #require(try await server.metric("siwa_clock_skew_seconds"))
            #expect(abs(skew - Double(offset)) <= 2, "\(offset): \(skew)")
            let page = try await server.call("metrics", "GET", "/").body
            let first = page.firstRange(of: "<li><strong>").map { page[$0.upperBound...] }
            #expect(first?.hasPrefix("This machine&#39;s clock is ") == true, "\(offset)")
            // After the second of the sign-in.
            try await fixture.apple.post("clock", ["offset": .integer(offset + 3)])
            let statuses = try await fixture.notify(
                "consent-revoked", of: user, at: try server.notificationURL)
            #expect(statuses == ["200": 1], "\(offset)")
            let states = try fixture.vault.opened()[fixture.vault.user(user)]?.map(\.state)
            #expect(states == [.consentRevoked], "\(offset)")
        }
        #expect(try await fixture.inbox().count == Self.offsets.count)
        #expect(try server.log("clock_wrong").count == 1)
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `while Apple's time is unknown, notifications that fail only for their times wait`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        try await fixture.apple.post("switches", ["secret_clock": "real"])
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/keys", "cut": "no_answer", "count": 1_000_000])
        let server = try await fixture.serve(
            fixture.listeners + [.init("jwks_file", "keys.json")])
        let good = try signer.body("good", about: "001234.a.0001", issued: 120)
        let expired = try signer.body("expired", about: "001234.a.0002", issued: -172_800)
        let distant = try signer.body("distant", about: "001234.a.0003", issued: 7200)
        for body in [good, expired, distant, good] {
            #expect(try await server.post(body).status == 200)
        }
        #expect(
            try await fixture.inbox().map { $0["state"]?.string }
                == ["unverified", "unverified", "unverified"])
        #expect(try await fixture.apple.requests(to: "/auth/keys").count == 1)

        try await fixture.apple.post("clock", ["offset": 120])
        // Any answer of Apple shows its time.
        _ = try await server.api("POST", "/v1/refresh", ["token": "r.0.nobody"])
        try await eventually("the genuine one is received, the others are deleted") {
            try await fixture.inbox().map { $0["jti"]?.string } == ["good"]
        }
        #expect(try await fixture.inbox().map { $0["state"]?.string } == ["none"])
        #expect(try await server.post(good).status == 200)
        #expect(try await server.post(expired).status == 401)
        #expect(try await server.post(distant).status == 401)
        #expect(try await fixture.inbox().count == 1)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `if Apple's time is unknown at shutdown, it is determined after the restart`()
        async throws
    {
        let fixture = try await ServerFixture()
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/keys", "cut": "no_answer", "count": 1_000_000])
        let settings = fixture.listeners + [JSON.Member("jwks_file", "keys.json")]
        let server = try await fixture.serve(settings)
        #expect(
            try await server.post(signer.body("good", about: "001234.a.0001", issued: 120)).status
                == 200)
        #expect(try await server.stop().ending == .exit(0))
        try await fixture.apple.post("clock", ["offset": 120])
        try await fixture.apple.post("faults/clear")
        let next = try await fixture.serve(settings)
        try await eventually("it is received") {
            try await fixture.inbox().map { $0["state"]?.string } == ["none"]
        }
        #expect(try await next.stop().ending == .exit(0))
    }

    @Test func `the command line stores a sign-in, and a later event changes its token`()
        async throws
    {
        let fixture = try await ServerFixture()
        try await fixture.apple.post("switches", ["secret_clock": "real"])
        for (index, offset) in [75, -120, -10].enumerated() {
            try await fixture.apple.post("clock", ["offset": .integer(offset)])
            let code = try await fixture.code(of: index + 1)
            let exchanged = try await fixture.apple.siwa(
                "exchange", "--code", "-", "--store", "--print", "user_id", input: code,
                environment: fixture.vault.environment)
            #expect(exchanged.exitCode == 0, "\(exchanged)")
            #expect(exchanged.errors.contains("warning: this machine's clock is "), "\(exchanged)")
            try await fixture.apple.post("clock", ["offset": .integer(offset + 3)])
            let payload = try await fixture.payload("consent-revoked", of: index + 1)
            let applied = try await fixture.apple.siwa(
                "notification", "-", "--apply", "--leeway", "2h", "--print", "applied",
                input: payload, environment: fixture.vault.environment)
            #expect(applied.exitCode == 0, "\(applied)")
            #expect(applied.output.contains("consent_revoked"), "\(offset): \(applied)")
        }
    }

    @Test func `check compares the clocks, and reports if it cannot`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure(fixture.listeners)
        let right = try await fixture.run("check")
        #expect(right.ending == .exit(0) && right.output.contains("\nclock: "), "\(right)")
        #expect(!right.errors.contains("clock"), "\(right)")
        try await fixture.apple.post("clock", ["offset": "75s"])
        let wrong = try await fixture.run("check")
        #expect(wrong.ending == .exit(0), "\(wrong)")
        let words = "warning: this machine's clock is 1 minute 1"
        #expect(wrong.errors.contains(words) && wrong.errors.contains("behind Apple's"), "\(wrong)")
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/keys", "cut": "no_answer", "count": 9])
        let unknown = try await fixture.run("check")
        #expect(unknown.ending == .exit(0), "\(unknown)")
        #expect(unknown.output.contains("clock: not compared"), "\(unknown)")
    }
}
