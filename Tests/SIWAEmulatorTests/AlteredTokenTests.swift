import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// `POST /emulator/tokens`, the same members of `POST /emulator/notifications`, and what goes with
/// them: `GET /emulator/keys/private` and `GET /emulator/sessions`.
@Suite struct AlteredTokenTests {
    @Test func `a token is returned with its claims and header changed, under a good signature`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control(
            "tokens",
            [
                "client_id": "com.example.app", "user": "bob", "nonce": "n-1",
                "claims": ["aud": "com.attacker.app", "nonce_supported": .null, "x": 1],
                "header": ["typ": "JWT"],
            ])
        let bad = try await harness.verified(answer["token"]?.string)
        let good = try await harness.verified(answer["id_token"]?.string)
        #expect(bad.payload["aud"] == "com.attacker.app" && bad.payload["x"] == 1)
        #expect(bad.payload["nonce_supported"] == nil && bad.header["typ"] == "JWT")
        #expect(good.payload["aud"] == "com.example.app" && good.payload["nonce"] == "n-1")
        let kept = bad.payload.members?.filter { good.payload[$0.name] == $0.value }
        #expect(kept?.count == (good.payload.members?.count ?? 0) - 2)
        let exchanged = try await harness.exchange(answer.text("code"))
        #expect(try await harness.verified(exchanged.body.text("id_token")).payload["x"] == nil)
    }

    @Test
    func `a token is delivered by one exchange of its code, with the hash of its access token`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control(
            "tokens",
            [
                "client_id": "com.example.app", "claims": ["sub": "001999.x.1999"],
                "deliver": "exchange",
            ])
        let first = try await harness.exchange(answer.text("code"))
        let token = try await harness.verified(first.body.text("id_token"))
        #expect(token.payload["sub"] == "001999.x.1999" && token.payload["at_hash"] != nil)
        let next = try await harness.session()
        #expect(try CompactJWS(next.text("id_token")).payload["sub"] != "001999.x.1999")
    }

    @Test func `a ready token is delivered by the exchange of a code that was issued before`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        let answer = try await harness.control(
            "tokens", ["code": .string(code), "token": "a.b.c", "deliver": "exchange"])
        #expect(answer["code"] == .string(code) && answer["token"] == "a.b.c")
        #expect(try await harness.exchange(code).body["id_token"] == "a.b.c")
    }

    @Test func `a ready token is delivered with a given access token, which is then genuine`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let given = try await harness.control("sessions/access-token", ["user": "alice"])
            .text("access_token")
        let code = try await harness.code()
        _ = try await harness.control(
            "tokens",
            [
                "code": .string(code), "token": "a.b.c", "deliver": "exchange",
                "access_token": .string(given),
            ])
        let answer = try await harness.exchange(code).body
        #expect(answer["access_token"] == .string(given) && answer["id_token"] == "a.b.c")
        #expect(try await harness.session()["access_token"] != .string(given))
    }

    @Test(arguments: [
        ("published", true), ("other_published", false), ("unpublished", false), ("none", false),
        ("kept", true), ("changed", false),
    ])
    func `each kind of signature`(_ name: String, _ isValid: Bool) async throws {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control(
            "tokens", ["client_id": "com.example.app", "sign": .string(name)])
        let token = try CompactJWS(answer.text("token"))
        let keys = try #require(KeySet(await harness.get("/auth/keys").body))
        let key = try #require(keys[try token.header.text("kid")])
        let holds = (try? key.isValidSignature(token.signature, for: token.signingInput.span))
        #expect((holds ?? false) == isValid)
        #expect(token.signature.isEmpty == (name == "none"))
        let ids = try await harness.control("keys/private")["keys"]?.elements ?? []
        let other = ids.compactMap { $0["kid"]?.string }.contains {
            (try? keys[$0]?.isValidSignature(token.signature, for: token.signingInput.span)) == true
        }
        #expect(other == (isValid || name == "other_published"))
    }

    @Test func `a kept signature does not fit changed claims, and a part can be any text`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control(
            "tokens",
            ["client_id": "com.example.app", "claims": ["sub": "x"], "sign": "kept"])
        let (bad, good) = (try answer.text("token"), try answer.text("id_token"))
        #expect(bad.split(separator: ".").last == good.split(separator: ".").last && bad != good)
        let texts = try await harness.control(
            "tokens", ["client_id": "com.example.app", "header": "{\"alg\":1,", "claims": "null"])
        let parts = try texts.text("token").split(separator: ".")
        #expect(try Base64URL.decode(String(parts[0])) == Array("{\"alg\":1,".utf8))
        #expect(try Base64URL.decode(String(parts[1])) == Array("null".utf8))
    }

    @Test func `a notification that is wrong has no effect on the user`() async throws {
        let harness = try await EmulatorHarness()
        let session = try await harness.session()
        let note = try await harness.control(
            "notifications",
            ["type": "account-delete", "user": "alice", "claims": ["aud": "com.attacker.app"]])
        let token = try await harness.verified(note["payload"]?.string)
        #expect(token.payload["aud"] == "com.attacker.app")
        #expect(try await harness.refresh(session.text("refresh_token")).status == 200)
        let sessions = try await harness.control("sessions", ["user": "alice"])
        #expect(sessions["sessions"]?.elements?.map { $0["revoked"] } == [false])
        _ = try await harness.control("notifications", ["type": "account-delete"])
        let ended = try await harness.control("sessions", ["user": "alice"])
        #expect(ended["sessions"]?.elements?.map { $0["revoked"] } == [true])
        let ready = try await harness.control(
            "notifications", ["type": "consent-revoked", "token": "a.b."])
        #expect(ready["payload"] == "a.b.")
    }

    @Test func `the private keys sign what the published keys verify`() async throws {
        let harness = try await EmulatorHarness()
        let document = try await harness.control("keys/private")
        let keys = try EmulatorKeys(privateDocument: document)
        #expect(document["signing"] == .string(keys.signingKeyID))
        let published = try #require(KeySet(await harness.get("/auth/keys").body))
        let key = try #require(published[keys.signingKeyID])
        let text = Array("text".utf8)
        let block = RSAEncoding.pkcs1(try RSAEncoding.digestInfo256(text))
        #expect(try key.isValidSignature(keys.signature(ofBlock: block), for: text.span))
    }

    @Test(
        arguments: [
            (["client_id": "com.example.app", "sign": "well"], "'sign' must be one of"),
            (["client_id": "com.example.app", "header": 1], "'header' must be an object"),
            (["client_id": "com.example.app", "token": "x", "sign": "none"], "exclude each other"),
            (["code": "c1", "user": "bob"], "'code' and 'user' exclude each other"),
            (["code": "c1"], "'code' was not issued by this emulator"),
            (["client_id": "com.example.app", "deliver": "post"], "'deliver' must be one of"),
            (["client_id": "com.example.app", "claim": [:]], "'claim' is not known"),
            (
                ["client_id": "com.example.app", "access_token": "a1"],
                "'access_token' needs 'deliver': 'exchange'"
            ),
            (
                ["client_id": "com.example.app", "deliver": "exchange", "access_token": "a1"],
                "does not look like an access token"
            ),
        ] as [(JSON, String)])
    func `a mistake is named`(_ body: JSON, _ message: String) async throws {
        let harness = try await EmulatorHarness()
        let error = await #expect(throws: (any Error).self) {
            try await harness.control("tokens", body)
        }
        #expect("\(error as Any)".contains(message))
    }
}
