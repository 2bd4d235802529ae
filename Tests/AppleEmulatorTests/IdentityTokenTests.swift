import AppleEmulator
import SIWACrypto
import SignInWithApple
import Testing

@Suite struct IdentityTokenTests {
    @Test func `with a code: c_hash, and the judgement of the first sign-in`() async throws {
        let stand = try await Stand()
        let answer = try await stand.control(
            "codes", ["client_id": .string(Stand.app), "nonce": "n-1"])
        let token = try await stand.verified(answer["id_token"]?.string)
        #expect(token.header.text.hasSuffix(#","alg":"RS256"}"#))
        #expect(token.header.members?.map(\.name) == ["kid", "alg"])
        let code = try answer.text("code")
        let now = Stand.start.seconds
        #expect(
            token.payload == [
                "iss": "https://appleid.apple.com", "aud": .string(Stand.app),
                "exp": .integer(now + 86_400), "iat": .integer(now),
                "sub": "001234.0123456789abcdef.0830", "nonce": "n-1",
                "c_hash": .string(try leftHalf(code)), "email": "alice@example.com",
                "email_verified": true, "auth_time": .integer(now), "nonce_supported": true,
                "real_user_status": 2,
            ])
    }

    @Test func `with tokens: at_hash, and when the sign-in was`() async throws {
        let stand = try await Stand()
        let code = try await stand.code(
            Stand.app, [JSON.Member("user", "bob"), JSON.Member("nonce", "n-2")])
        try await stand.control("clock", ["offset": 100])
        let answer = try await stand.exchange(code)
        let token = try await stand.verified(answer.body["id_token"]?.string)
        let now = Stand.start.seconds
        #expect(
            token.payload == [
                "iss": "https://appleid.apple.com", "aud": .string(Stand.app),
                "exp": .integer(now + 86_500), "iat": .integer(now + 100),
                "sub": "001235.0123456789abcdef.0931", "nonce": "n-2",
                "at_hash": .string(try leftHalf(answer.text("access_token"))),
                "email": "qwertz1234@privaterelay.appleid.com", "email_verified": true,
                "is_private_email": true, "auth_time": .integer(now), "nonce_supported": true,
            ])
    }

    @Test func `the email claims can be strings, or absent`() async throws {
        let stand = try await Stand(["email_claims": "string"])
        let bob = try await stand.session(Stand.web, [JSON.Member("user", "bob")])
        let claims = try await stand.verified(bob["id_token"]?.string).payload
        #expect(claims["email_verified"] == "true" && claims["is_private_email"] == "true")
        let carol = try await stand.session(Stand.app, [JSON.Member("user", "carol")])
        let bare = try await stand.verified(carol["id_token"]?.string).payload
        #expect(bare["email"] == nil && bare["email_verified"] == nil)
    }

    @Test(arguments: [(false, nil), (true, "n-3" as JSON)])
    func `a refresh drops the nonce unless told`(_ isSet: Bool, _ nonce: JSON?) async throws {
        let stand = try await Stand(["refresh_nonce": .boolean(isSet)])
        let session = try await stand.session(Stand.app, [JSON.Member("nonce", "n-3")])
        let refreshed = try await stand.refresh(try session.text("refresh_token"))
        let claims = try await stand.verified(refreshed.body["id_token"]?.string).payload
        #expect(claims["nonce"] == nonce)
        #expect(claims["at_hash"]?.string == (try leftHalf(refreshed.text("access_token"))))
    }

    @Test func `a person is judged once, in an app, and again after a revocation`() async throws {
        let stand = try await Stand()
        func judgement(_ client: String) async throws -> JSON? {
            let answer = try await stand.control("codes", ["client_id": .string(client)])
            return try await stand.verified(answer["id_token"]?.string).payload["real_user_status"]
        }
        #expect(try await judgement(Stand.web) == nil)
        let session = try await stand.session()
        #expect(try await judgement(Stand.app) == nil)
        let token = try session.text("refresh_token")
        _ = await stand.post(
            "/auth/revoke",
            [("client_id", Stand.app), ("client_secret", try stand.secret()), ("token", token)])
        #expect(try await judgement(Stand.app) == 2)
    }

    @Test func `the key set has three keys of 2048 bits in any order`() async throws {
        let stand = try await Stand()
        var orders: Set<[String?]> = []
        for _ in 0..<60 {
            let body = await stand.get("/auth/keys").body
            let keys = try #require(try JSON(body)["keys"]?.elements)
            orders.insert(keys.map { $0["kid"]?.string })
            for key in keys {
                #expect(key.members?.map(\.name) == ["kty", "kid", "use", "alg", "n", "e"])
                #expect(key["kid"]?.string?.count == 10 && key["n"]?.string?.count == 342)
                #expect(key["e"] == "AQAB")
            }
        }
        #expect(orders.count > 1)
        #expect(orders.allSatisfy { Set($0).count == 3 })
    }

    private func leftHalf(_ text: String) throws -> String {
        Base64URL.encode(try SHA256.digest(text).prefix(16))
    }
}
