import SIWAEmulator
import SIWAJOSE
import SIWATestSupport
import Testing

/// The effect of a notification on a user's tokens.
@Suite struct NotificationEffectTests {
    private static let dead = Outcome(
        "invalid_grant", "The token has expired or has been revoked.")

    @Test(arguments: [
        ("consent-revoked", nil, [EmulatorHarness.other]),
        ("consent-revoked", EmulatorHarness.web, [EmulatorHarness.app, EmulatorHarness.other]),
        ("consent-revoked", EmulatorHarness.other, [EmulatorHarness.app]),
        ("account-delete", nil, []), ("account-deleted", nil, []),
        ("email-disabled", nil, [EmulatorHarness.app, EmulatorHarness.web, EmulatorHarness.other]),
        ("of-tomorrow", nil, [EmulatorHarness.app, EmulatorHarness.web, EmulatorHarness.other]),
    ])
    func `a notification ends the sessions of the clients concerned`(
        _ type: String, _ client: String?, _ alive: [String]
    ) async throws {
        let harness = try await EmulatorHarness()
        let clients = [EmulatorHarness.app, EmulatorHarness.web, EmulatorHarness.other]
        var tokens: [(String, String)] = []
        for client in clients {
            tokens.append((client, try await harness.session(client).text("refresh_token")))
        }
        let others = try await harness.session(EmulatorHarness.app, [JSON.Member("user", "bob")])
        let concerned = client.map { [JSON.Member("client_id", .string($0))] } ?? []
        try await harness.control(
            "notifications", .object([JSON.Member("type", .string(type))] + concerned))
        for (client, token) in tokens {
            let outcome = try await harness.refresh(token, as: client)
            #expect(alive.contains(client) ? outcome.status == 200 : outcome == Self.dead)
        }
        #expect(try await harness.refresh(others.text("refresh_token")).status == 200)
    }

    @Test(arguments: ["consent-revoked", "account-delete"])
    func `a notification invalidates codes that were not exchanged`(_ type: String) async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        let others = try await harness.code(EmulatorHarness.app, [JSON.Member("user", "bob")])
        try await harness.control("notifications", ["type": .string(type)])
        let dead = Outcome("invalid_grant", "The code has expired or has been revoked.")
        #expect(try await harness.exchange(code) == dead)
        #expect(try await harness.exchange(others).status == 200)
    }

    @Test(arguments: [("consent-revoked", true), ("account-delete", true), ("x", false)])
    func `after the notification, the next sign-in asks for consent again`(
        _ type: String, _ isFirst: Bool
    ) async throws {
        let harness = try await EmulatorHarness()
        _ = try await harness.callback()
        try await harness.control("notifications", ["type": .string(type)])
        #expect((try await harness.callback()["user"] != nil) == isFirst)
    }

    @Test func `the console shows whose mail forwarding is disabled`() async throws {
        let harness = try await EmulatorHarness()
        let words = "first time here, mail to the relay address is off"
        for (type, isOff) in [("email-disabled", true), ("email-enabled", false)] {
            try await harness.control("notifications", ["type": .string(type)])
            #expect(await harness.visit().text.contains(words) == isOff)
        }
    }
}
