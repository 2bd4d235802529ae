import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The user data that a client receives after a sign-in on the page.
@Suite struct ConsentTests {
    private static let redirect = [("redirect_uri", EmulatorHarness.callback)]

    @Test(arguments: [
        (
            "name email",
            #"{"name":{"firstName":"Alice","lastName":"O'Hara & <Sons>"},"email":"alice@example.com"}"#
        ),
        ("name", #"{"name":{"firstName":"Alice","lastName":"O'Hara & <Sons>"}}"#),
        ("email", #"{"email":"alice@example.com"}"#),
        ("openid", nil),
    ])
    func `the user field contains the requested scopes at the first sign-in`(
        _ scope: String, _ user: String?
    ) async throws {
        let harness = try await EmulatorHarness()
        #expect(try await harness.callback(scope: scope)["user"] == user)
        #expect(try await harness.callback(scope: scope)["user"] == nil)
        #expect(
            try await harness.callback(user: "bob", scope: scope)["user"] != user || user == nil)
    }

    @Test func `the user field is sent again after a revocation`() async throws {
        let harness = try await EmulatorHarness()
        let first = try await harness.callback()
        let session = try await harness.exchange(
            try #require(first["code"]), as: EmulatorHarness.web, Self.redirect)
        #expect(try await harness.callback()["user"] == nil)
        _ = await harness.post(
            "/auth/revoke",
            [
                ("client_id", EmulatorHarness.web),
                ("client_secret", try harness.secret(EmulatorHarness.web)),
                ("token", try session.text("refresh_token")),
            ])
        let again = try await harness.callback(email: "hide")
        #expect(again["user"]?.contains("@privaterelay.appleid.com") == true)
    }

    @Test func `an existing relay address is kept when the relay domain changes`() async throws {
        let harness = try await EmulatorHarness()
        func relay(_ user: String) async throws -> String {
            let form = try await harness.callback(
                user: user, email: "hide", ["response_type": "code id_token"])
            return try await harness.verified(form["id_token"]).payload.text("email")
        }
        let old = try await relay("alice")
        try await harness.control("switches", ["relay_domain": "private.icloud.com"])
        #expect(try await relay("alice") == old)
        try await harness.control("notifications", ["type": "consent-revoked"])
        #expect(try await relay("alice") == old)
        try await harness.control("reset")
        try await harness.control("switches", ["relay_domain": "private.icloud.com"])
        let name = try #require(old.split(separator: "@").first)
        #expect(try await relay("alice") == "\(name)@private.icloud.com")
    }

    @Test func `a hidden address is the same relay address in every token`() async throws {
        let harness = try await EmulatorHarness()
        let first = try await harness.callback(email: "hide", ["response_type": "code id_token"])
        let claims = try await harness.verified(first["id_token"]).payload
        let relay = try claims.text("email")
        #expect(relay.wholeMatch(of: /[a-z0-9]{10}@privaterelay\.appleid\.com/) != nil)
        #expect(claims["is_private_email"] == true && claims["email_verified"] == true)
        #expect(try JSON(text: try #require(first["user"]))["email"] == .string(relay))
        let session = try await harness.exchange(
            try #require(first["code"]), as: EmulatorHarness.web, Self.redirect)
        let refreshed = try await harness.refresh(
            try session.text("refresh_token"), as: EmulatorHarness.web)
        for token in [session.body["id_token"], refreshed.body["id_token"]] {
            #expect(try await harness.verified(token?.string).payload["email"] == .string(relay))
        }
        try await harness.control("reset")
        let other = try await harness.callback(email: "hide")
        #expect(try JSON(text: try #require(other["user"]))["email"] == .string(relay))
        let bob = try await harness.callback(user: "bob", email: "hide")
        #expect(bob["user"]?.contains(relay) == false)
    }

    @Test func `the user's first choice applies, also if no page is shown`() async throws {
        let harness = try await EmulatorHarness()
        _ = try await harness.callback(email: "hide")
        let page = await harness.visit(["scope": "email", "response_mode": "form_post"])
        #expect(page.text.contains("alice@example.com, was here before and hides the address"))
        let second = try await harness.callback(email: "share", ["response_type": "code id_token"])
        let claims = try await harness.verified(second["id_token"]).payload
        #expect(claims["is_private_email"] == true)
        let third = try await harness.session(EmulatorHarness.web)
        let relay = try await harness.verified(third["id_token"]?.string).payload["email"]
        #expect(relay == claims["email"])
    }

    @Test func `an address that was granted once is in every later token`() async throws {
        let harness = try await EmulatorHarness()
        _ = try await harness.callback()
        let location = try await harness.submit(await harness.visit()).fields["location"]
        let code = try #require(location?.split(separator: "=").last.map(String.init))
        let session = try await harness.exchange(code, as: EmulatorHarness.web, Self.redirect)
        let claims = try await harness.verified(session.body["id_token"]?.string).payload
        #expect(claims["email"] == "alice@example.com")
    }

    @Test func `an address that was not requested is in no token`() async throws {
        let harness = try await EmulatorHarness()
        for scope in ["name", "name email"] {
            let form = try await harness.callback(scope: scope, ["response_type": "code id_token"])
            let claims = try await harness.verified(form["id_token"]).payload
            #expect(claims["email"] == nil && claims["email_verified"] == nil)
        }
    }

    @Test(arguments: ["share", "hide"])
    func `an account that has only a relay address shows it`(_ email: String) async throws {
        let harness = try await EmulatorHarness()
        let form = try await harness.callback(user: "bob", email: email, scope: "email")
        #expect(form["user"] == #"{"email":"qwertz1234@privaterelay.appleid.com"}"#)
    }

    @Test func `an account without an address returns no email, hidden or not`() async throws {
        let harness = try await EmulatorHarness()
        let form = try await harness.callback(
            user: "carol", email: "hide", ["response_type": "code id_token"])
        #expect(form["user"] == nil)
        #expect(try await harness.verified(form["id_token"]).payload["email"] == nil)
    }
}
