import SIWAJOSE
import SIWATestSupport
import Testing

/// The real executable against the real emulator, over TLS sockets.
@Suite struct MainJobTests {
    @Test
    func `a client mints a secret, exchanges, refreshes, revokes and confirms the revocation`()
        async throws
    {
        let apple = try await LocalApple()
        let secret = try await apple.siwa("secret")
        #expect(secret.exitCode == 0 && secret.output.split(separator: ".").count == 3, "\(secret)")

        let exchange = try await apple.siwa(
            "exchange", "--code", "-", input: "\(try await apple.code())\n")
        try #require(exchange.exitCode == 0, "\(exchange)")
        let tokens = try exchange.json
        #expect(tokens["user_id"]?.string?.isEmpty == false)
        #expect(tokens["expires_at"]?.string.flatMap { NumericDate(rfc3339: $0) } != nil)
        let token = try #require(tokens["refresh_token"]?.string)

        let refresh = try await apple.siwa("refresh", "--token", token)
        #expect(refresh.exitCode == 0, "\(refresh)")
        #expect(try refresh.json["refresh_token"] == nil)

        let revoke = try await apple.siwa("revoke", "--token", token, "--check-first")
        #expect(revoke.exitCode == 0, "\(revoke)")
        #expect(try revoke.json["evidence"] == "refresh_accepted_then_rejected")
        #expect(try revoke.json["revoked"] == true && revoke.json["confirmed"] == true)

        let dead = try await apple.siwa("refresh", "--token", token)
        #expect(dead.exitCode == 5, "\(dead)")
        #expect(dead.errors.contains("The token has expired or has been revoked."))

        let again = try await apple.siwa("revoke", "--token", token, "--check-first")
        #expect(again.exitCode == 0, "\(again)")
        #expect(try again.json["was_active"] == false)
        #expect(try await apple.stop().exitCode == 0)
    }

    @Test func `a web sign-in works with redirect URI, nonce and PKCE`() async throws {
        let apple = try await LocalApple()
        let code = try await apple.code(
            for: "com.example.web",
            [
                .init("redirect_uri", "https://example.com/callback"), .init("nonce", "n-1"),
                // RFC 7636, appendix B.
                .init("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
                .init("code_challenge_method", "S256"),
            ])
        let result = try await apple.siwa(
            "--profile", "web", "exchange", "--code", code, "--nonce", "n-1", "--code-verifier",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "--print", "user_id")
        #expect(
            result.exitCode == 0 && !result.output.isEmpty && result.errors.isEmpty, "\(result)")
    }

    @Test func `an account is revoked with the code of a new sign-in`() async throws {
        let apple = try await LocalApple()
        let result = try await apple.siwa("revoke", "--code", try await apple.code(), "--confirm")
        #expect(result.exitCode == 0, "\(result)")
        #expect(try result.json["evidence"] == "refresh_rejected")
    }

    @Test func `of ten parallel exchanges of one code, exactly one succeeds`() async throws {
        let apple = try await LocalApple()
        let code = try await apple.code()
        let codes = try await withThrowingTaskGroup(of: CInt?.self) { group in
            for _ in 0..<10 {
                group.addTask { try await apple.siwa("exchange", "--code", code).exitCode }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == 0 } == 1 && codes.count { $0 == 5 } == 9, "\(codes)")
    }
}
