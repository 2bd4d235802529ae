import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

/// One revocation of a valid token.
struct Revocation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var member = "refresh_token"
    var client = EmulatorHarness.app
    var secret: String?
    var hint: String?
    var switches: JSON = [:]
    /// Nil is 200 with an empty body.
    var error: String?
    var isAlive = false
    let verdict: String
}

@Suite struct RevokeTests {
    static let rows = [
        Revocation(testDescription: "refresh token", verdict: "ok: revoked, by its refresh_token"),
        Revocation(
            testDescription: "access token", member: "access_token",
            verdict: "ok: revoked, by its access_token"),
        Revocation(
            testDescription: "right hint", hint: "refresh_token", verdict: "ok: revoked"),
        Revocation(
            testDescription: "wrong hint", hint: "access_token", verdict: "ok: revoked"),
        Revocation(
            testDescription: "wrong hint, strict", hint: "access_token",
            switches: ["revoke_checks_hint": true], error: "invalid_request", isAlive: true,
            verdict: "token_type_hint: this is a refresh token"),
        Revocation(
            testDescription: "identity token", member: "id_token", isAlive: true,
            verdict: "nothing revoked: token: this is a JWT"),
        Revocation(
            testDescription: "another client", client: EmulatorHarness.web, isAlive: true,
            verdict: "nothing revoked: token: issued to com.example.app"),
        Revocation(
            testDescription: "bad secret", secret: "clientSecret", isAlive: true,
            verdict: "nothing revoked: client_secret: it has no dot"),
        Revocation(
            testDescription: "bad secret, strict", secret: "clientSecret",
            switches: ["revoke_checks_client": true], error: "invalid_client", isAlive: true,
            verdict: "client_secret: it has no dot"),
    ]

    @Test(arguments: rows) func `a revocation ends the sessions that it should`(_ row: Revocation)
        async throws
    {
        let harness = try await EmulatorHarness(row.switches)
        let session = try await harness.session()
        let token = try #require(session[row.member]?.string)
        let response = try await revoke(token, harness, row)
        if let error = row.error {
            #expect(Outcome(response) == Outcome(error))
        } else {
            #expect(response.status == 200 && response.body.isEmpty)
            #expect(response.fields["cache-control"] == "no-store")
        }
        #expect(try await harness.verdict().hasPrefix(row.verdict))
        let refreshed = try await harness.refresh(try session.text("refresh_token"))
        #expect((refreshed.status == 200) == row.isAlive)
    }

    @Test(arguments: ["test token", "a0.b.c", "eyJh.e30.AA"])
    func `an invalid token with invalid credentials is answered with 200`(_ token: String)
        async throws
    {
        let harness = try await EmulatorHarness()
        let response = await harness.post(
            "/auth/revoke",
            [("client_id", "clientID"), ("client_secret", "clientSecret"), ("token", token)])
        #expect(response.status == 200 && response.body.isEmpty)
    }

    @Test(arguments: [
        ("", "invalid_client"), ("token=x", "invalid_client"),
        ("client_id=x&client_secret=y", "invalid_request"),
        ("client_id=x&client_secret=y&token=a&token=b", "invalid_request"),
        ("token=%", "invalid_request"),
    ])
    func `an invalid request is refused`(_ body: String, _ error: String) async throws {
        let response = try await EmulatorHarness().post("/auth/revoke", body: Array(body.utf8))
        #expect(Outcome(response) == Outcome(error))
    }

    @Test func `a second revocation is answered like the first`() async throws {
        let harness = try await EmulatorHarness()
        let token = try await harness.session().text("refresh_token")
        let row = Revocation(testDescription: "", verdict: "")
        for _ in 0..<2 { #expect(try await revoke(token, harness, row).status == 200) }
        #expect(
            try await harness.verdict() == "nothing revoked: token: its session was revoked before")
    }

    @Test(arguments: [("session", 200), ("user", 400)])
    func `a revocation ends all tokens of its session`(_ scope: String, _ expected: Int)
        async throws
    {
        let harness = try await EmulatorHarness(["revoke_scope": .string(scope)])
        let sessions = (
            first: try await harness.session(), second: try await harness.session(),
            bob: try await harness.session(EmulatorHarness.app, [JSON.Member("user", "bob")])
        )
        let token = try sessions.first.text("refresh_token")
        _ = try await revoke(token, harness, Revocation(testDescription: "", verdict: ""))
        let second = try sessions.second.text("refresh_token")
        #expect(try await harness.refresh(second).status == expected)
        let bob = try sessions.bob.text("refresh_token")
        #expect(try await harness.refresh(bob).status == 200)
    }

    @Test func `an access token expires after an hour, and its session stays valid`() async throws {
        let harness = try await EmulatorHarness()
        let session = try await harness.session()
        try await harness.control("clock", ["offset": "1h"])
        let token = try session.text("access_token")
        _ = try await revoke(token, harness, Revocation(testDescription: "", verdict: ""))
        #expect(try await harness.verdict().contains("is not known here or no longer"))
    }

    private func revoke(
        _ token: String, _ harness: EmulatorHarness, _ row: Revocation
    ) async throws -> HTTPResponse {
        let hint = row.hint.map { [("token_type_hint", $0)] } ?? []
        let secret = try row.secret ?? harness.secret(row.client)
        return await harness.post(
            "/auth/revoke",
            [("client_id", row.client), ("client_secret", secret), ("token", token)] + hint)
    }
}
