import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct RefreshGrantTests {
    private static let dead = Outcome(
        "invalid_grant", "The token has expired or has been revoked.")

    @Test(arguments: [
        (true, ["access_token", "token_type", "expires_in", "id_token"]),
        (false, ["access_token", "token_type", "expires_in"]),
    ])
    func `a refresh returns no refresh token`(_ isSet: Bool, _ members: [String]) async throws {
        let harness = try await EmulatorHarness(["refresh_id_token": .boolean(isSet)])
        let session = Outcome(HTTPResponse(status: 200, body: try await harness.session().bytes))
        let token = try session.text("refresh_token")
        let outcome = try await harness.refresh(token)
        #expect(outcome.body.members?.map(\.name) == members)
        #expect(try outcome.text("access_token") != session.text("access_token"))
        #expect(try await harness.refresh(token).status == 200, "it is not rotated")
    }

    @Test(arguments: ["test refreshToken", "r0123.0.rsy.x"])
    func `an unknown token is refused`(_ token: String) async throws {
        #expect(try await EmulatorHarness().refresh(token) == Self.dead)
    }

    @Test func `an access token is not accepted as a refresh token`() async throws {
        let harness = try await EmulatorHarness()
        let token = try await harness.session().text("access_token")
        #expect(try await harness.refresh(token) == Self.dead)
        #expect(try await harness.verdict().contains("shape of an access token"))
    }

    @Test func `a token of another client is refused`() async throws {
        let harness = try await EmulatorHarness()
        let token = try await harness.session().text("refresh_token")
        #expect(
            try await harness.refresh(token, as: EmulatorHarness.web) == Outcome("invalid_grant"))
        #expect(try await harness.verdict() == "refresh_token: issued to com.example.app")
    }

    @Test(arguments: [("invalid_grant", dead), ("invalid_request", Outcome("invalid_request"))])
    func `a revoked token is refused`(_ setting: String, _ expected: Outcome) async throws {
        let harness = try await EmulatorHarness(["refresh_after_revoke": .string(setting)])
        let token = try await harness.session().text("refresh_token")
        _ = await harness.post(
            "/auth/revoke",
            [
                ("client_id", EmulatorHarness.app), ("client_secret", try harness.secret()),
                ("token", token),
            ])
        #expect(try await harness.refresh(token) == expected)
    }

    @Test func `a refresh token does not expire`() async throws {
        let harness = try await EmulatorHarness()
        let token = try await harness.session().text("refresh_token")
        try await harness.control("clock", ["offset": "3650d"])
        let draft = SecretDraft(at: EmulatorHarness.start + .seconds(3650 * 86_400))
        let outcome = try await harness.token([
            ("client_secret", try draft.minted(by: harness.key)), ("grant_type", "refresh_token"),
            ("refresh_token", token),
        ])
        #expect(outcome.status == 200)
    }
}
