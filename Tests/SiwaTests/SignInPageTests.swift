import SIWACrypto
import SIWAJOSE
import SIWATestSupport
import Testing

/// The page of the emulator without a browser, and the real `siwa` behind it.
@Suite struct SignInPageTests {
    @Test func `a code from the page is exchanged, with a hidden address`() async throws {
        let apple = try await LocalApple()
        let request = [
            ("client_id", "com.example.web"), ("redirect_uri", "https://example.com/callback"),
            ("response_type", "code id_token"), ("response_mode", "form_post"),
            ("scope", "name email"), ("state", "s-1"), ("nonce", "n-1"),
            // RFC 7636, appendix B.
            ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            ("code_challenge_method", "S256"),
        ]
        let form = try await apple.signIn(
            request, as: ["user": "alice", "email": "hide", "action": "continue"])
        #expect(form.action == "https://example.com/callback" && form["state"] == "s-1")
        let user = try JSON(text: try #require(form["user"]))
        #expect(user["name"] == ["firstName": "Alice", "lastName": "Archer"])
        let code = try #require(form["code"])

        let brought = try await apple.siwa(
            "verify", "-", "--audience", "com.example.web", "--nonce", "n-1", "--code", code,
            input: try #require(form["id_token"]))
        #expect(brought.exitCode == 0, "\(brought)")

        let exchange = try await apple.siwa(
            "--profile", "web", "exchange", "--code", code, "--nonce", "n-1", "--code-verifier",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        try #require(exchange.exitCode == 0, "\(exchange)")
        let token = try CompactJWS(try #require(exchange.json["id_token"]?.string))
        #expect(token.payload["email"] == user["email"])
        #expect(token.payload["is_private_email"] == true)

        let again = try await apple.signIn(
            request, as: ["user": "alice", "email": "share", "action": "continue"])
        #expect(again["user"] == nil)
        let cancelled = try await apple.signIn(request, as: ["action": "cancel"])
        #expect(cancelled.fields.map(\.name) == ["error", "state"])
    }

    @Test func `a notification reaches its receiver, and siwa verifies it`() async throws {
        let apple = try await LocalApple()
        let tokens = try await apple.siwa("exchange", "--code", try await apple.code()).json
        try await RawServer.serving(
            [.readRequest, .answer(500), .close], [.readRequest, .answer(200), .close]
        ) { receiver in
            let answer = try await apple.post(
                "notifications", ["type": "account-delete", "url": .string(receiver.url + "/s2s")])
            #expect(answer["attempts"] == [["status": 500], ["status": 200]])
            let requests = receiver.requests
            #expect(requests.map(\.line) == ["POST /s2s HTTP/1.1", "POST /s2s HTTP/1.1"])
            let body = try #require(requests.last?.body)
            #expect(requests.first?.body == body)

            let verified = try await apple.siwa("notification", "-", input: body)
            #expect(verified.exitCode == 0, "\(verified)")
            #expect(try verified.json["jti"] == answer["jti"])
            #expect(try verified.json["event"]?["type"] == "account-deleted")
            #expect(try verified.json["event"]?["user_id"] == tokens["user_id"])
        }
        let token = try #require(tokens["refresh_token"]?.string)
        #expect(try await apple.siwa("refresh", "--token", token).exitCode == 5)
    }

    @Test func `a receiver that does not listen is reported`() async throws {
        let apple = try await LocalApple()
        let port = try await RawServer.serving([.close]) { $0.port }
        let answer = try await apple.post(
            "notifications",
            [
                "type": "consent-revoked", "url": .string("http://127.0.0.1:\(port)/"),
                "attempts": 1,
            ])
        #expect(answer["delivered"] == false)
        let attempts = try #require(answer["attempts"]?.elements)
        #expect(attempts.count == 1)
        #expect(attempts.first?["error"]?.string?.hasPrefix("connect: ") == true, "\(answer.text)")
    }

    @Test func `a new key is fetched when a token names it`() async throws {
        let apple = try await LocalApple()
        #expect(try await apple.siwa("keys").exitCode == 0)
        try await apple.post("keys/rotate", ["keys": 1])
        let exchange = try await apple.siwa("exchange", "--code", try await apple.code())
        #expect(exchange.exitCode == 0, "\(exchange)")
    }
}
