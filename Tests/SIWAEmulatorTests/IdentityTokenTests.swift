import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct IdentityTokenTests {
    @Test func `the token of an authorization response has c_hash and real_user_status`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control(
            "codes", ["client_id": .string(EmulatorHarness.app), "nonce": "n-1"])
        let token = try await harness.verified(answer["id_token"]?.string)
        #expect(token.header.text.hasSuffix(#","alg":"RS256"}"#))
        #expect(token.header.members?.map(\.name) == ["kid", "alg"])
        let code = try answer.text("code")
        let now = EmulatorHarness.start.seconds
        #expect(
            token.payload == [
                "iss": "https://appleid.apple.com", "aud": .string(EmulatorHarness.app),
                "exp": .integer(now + 86_400), "iat": .integer(now),
                "sub": "001234.0123456789abcdef.0830", "nonce": "n-1",
                "c_hash": .string(try leftHalf(code)), "email": "alice@example.com",
                "email_verified": true, "auth_time": .integer(now), "nonce_supported": true,
                "real_user_status": 2,
            ])
    }

    @Test func `the token of a token response has at_hash and auth_time`() async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code(
            EmulatorHarness.app, [JSON.Member("user", "bob"), JSON.Member("nonce", "n-2")])
        try await harness.control("clock", ["offset": 100])
        let answer = try await harness.exchange(code)
        let token = try await harness.verified(answer.body["id_token"]?.string)
        let now = EmulatorHarness.start.seconds
        #expect(
            token.payload == [
                "iss": "https://appleid.apple.com", "aud": .string(EmulatorHarness.app),
                "exp": .integer(now + 86_500), "iat": .integer(now + 100),
                "sub": "001235.0123456789abcdef.0931", "nonce": "n-2",
                "at_hash": .string(try leftHalf(answer.text("access_token"))),
                "email": "qwertz1234@privaterelay.appleid.com", "email_verified": true,
                "is_private_email": true, "auth_time": .integer(now), "nonce_supported": true,
            ])
    }

    @Test func `switches write the email claims as strings or omit them`() async throws {
        let harness = try await EmulatorHarness(["email_claims": "string"])
        let bob = try await harness.session(EmulatorHarness.web, [JSON.Member("user", "bob")])
        let claims = try await harness.verified(bob["id_token"]?.string).payload
        #expect(claims["email_verified"] == "true" && claims["is_private_email"] == "true")
        let carol = try await harness.session(EmulatorHarness.app, [JSON.Member("user", "carol")])
        let bare = try await harness.verified(carol["id_token"]?.string).payload
        #expect(bare["email"] == nil && bare["email_verified"] == nil)
    }

    @Test(arguments: [(false, nil), (true, "n-3" as JSON)])
    func `a refreshed token has no nonce unless a switch adds it`(_ isSet: Bool, _ nonce: JSON?)
        async throws
    {
        let harness = try await EmulatorHarness(["refresh_nonce": .boolean(isSet)])
        let session = try await harness.session(EmulatorHarness.app, [JSON.Member("nonce", "n-3")])
        let refreshed = try await harness.refresh(try session.text("refresh_token"))
        let claims = try await harness.verified(refreshed.body["id_token"]?.string).payload
        #expect(claims["nonce"] == nonce)
        #expect(claims["at_hash"]?.string == (try leftHalf(refreshed.text("access_token"))))
    }

    @Test func `real_user_status is sent once per app, and again after a revocation`() async throws
    {
        let harness = try await EmulatorHarness()
        func judgement(_ client: String) async throws -> JSON? {
            let answer = try await harness.control("codes", ["client_id": .string(client)])
            return try await harness.verified(answer["id_token"]?.string).payload[
                "real_user_status"]
        }
        #expect(try await judgement(EmulatorHarness.web) == nil)
        let session = try await harness.session()
        #expect(try await judgement(EmulatorHarness.app) == nil)
        let token = try session.text("refresh_token")
        _ = await harness.post(
            "/auth/revoke",
            [
                ("client_id", EmulatorHarness.app), ("client_secret", try harness.secret()),
                ("token", token),
            ])
        #expect(try await judgement(EmulatorHarness.app) == 2)
    }

    @Test func `the key set has three keys of 2048 bits in any order`() async throws {
        let harness = try await EmulatorHarness()
        var orders: Set<[String?]> = []
        for _ in 0..<60 {
            let body = await harness.get("/auth/keys").body
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
