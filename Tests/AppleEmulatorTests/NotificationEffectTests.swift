import AppleEmulator
import SignInWithApple
import TestSupport
import Testing

/// What becomes of a user's tokens when a notification is sent.
@Suite struct NotificationEffectTests {
    private static let dead = Outcome(
        "invalid_grant", "The token has expired or has been revoked.")

    @Test(arguments: [
        ("consent-revoked", nil, [Stand.other]),
        ("consent-revoked", Stand.web, [Stand.app, Stand.other]),
        ("consent-revoked", Stand.other, [Stand.app]),
        ("account-delete", nil, []), ("account-deleted", nil, []),
        ("email-disabled", nil, [Stand.app, Stand.web, Stand.other]),
        ("of-tomorrow", nil, [Stand.app, Stand.web, Stand.other]),
    ])
    func `ends the sessions with the clients concerned`(
        _ type: String, _ client: String?, _ alive: [String]
    ) async throws {
        let stand = try await Stand()
        let clients = [Stand.app, Stand.web, Stand.other]
        var tokens: [(String, String)] = []
        for client in clients {
            tokens.append((client, try await stand.session(client).text("refresh_token")))
        }
        let others = try await stand.session(Stand.app, [JSON.Member("user", "bob")])
        let concerned = client.map { [JSON.Member("client_id", .string($0))] } ?? []
        try await stand.control(
            "notifications", .object([JSON.Member("type", .string(type))] + concerned))
        for (client, token) in tokens {
            let outcome = try await stand.refresh(token, as: client)
            #expect(alive.contains(client) ? outcome.status == 200 : outcome == Self.dead)
        }
        #expect(try await stand.refresh(others.text("refresh_token")).status == 200)
    }

    @Test(arguments: ["consent-revoked", "account-delete"])
    func `a code nobody has exchanged is dead, too`(_ type: String) async throws {
        let stand = try await Stand()
        let code = try await stand.code()
        let others = try await stand.code(Stand.app, [JSON.Member("user", "bob")])
        try await stand.control("notifications", ["type": .string(type)])
        let dead = Outcome("invalid_grant", "The code has expired or has been revoked.")
        #expect(try await stand.exchange(code) == dead)
        #expect(try await stand.exchange(others).status == 200)
    }

    @Test(arguments: [("consent-revoked", true), ("account-delete", true), ("x", false)])
    func `the next consent is a first one`(_ type: String, _ isFirst: Bool) async throws {
        let stand = try await Stand()
        _ = try await stand.callback()
        try await stand.control("notifications", ["type": .string(type)])
        #expect((try await stand.callback()["user"] != nil) == isFirst)
    }

    @Test func `the page knows whose mail is off`() async throws {
        let stand = try await Stand()
        let words = "first time here, mail to the relay address is off"
        for (type, isOff) in [("email-disabled", true), ("email-enabled", false)] {
            try await stand.control("notifications", ["type": .string(type)])
            #expect(await stand.visit().text.contains(words) == isOff)
        }
    }
}
