import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// A behavior of Apple's that breaks naive clients, as docs/emulator.md lists it, and what a client
/// sees of it in the emulator.
struct Quirk: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let see: @Sendable (EmulatorHarness) async throws -> Void

    init(_ name: String, _ see: @escaping @Sendable (EmulatorHarness) async throws -> Void) {
        (testDescription, self.see) = (name, see)
    }
}

@Suite struct QuirkTests {
    @Test(arguments: Quirk.all) func `the emulator shows the quirk`(_ quirk: Quirk) async throws {
        try await quirk.see(try await EmulatorHarness())
    }

    @Test func `every documented quirk is tested, and every tested quirk is documented`() throws {
        let items = try emulatorPage("What breaks clients").split(separator: "\n")
            .filter { $0.hasPrefix("- ") }
        #expect(items.map { $0.dropFirst(2) } == Quirk.all.map { $0.testDescription[...] })
    }
}

extension Quirk {
    static let all = clients + codes + answers + rest

    private static let clients = [
        Quirk("any fault of a client_secret is answered with invalid_client and no detail") {
            harness in
            for row in SpoiledSecret.all {
                var draft = SecretDraft()
                row.spoil(&draft)
                let outcome = try await harness.teamToken(try draft.minted(by: harness.key))
                #expect(outcome == Outcome("invalid_client"), "\(row.testDescription)")
            }
        },
        Quirk("the key set has several keys, in a different order each time, and they are rotated")
        { harness in
            var orders: Set<[String]> = []
            for _ in 0..<40 { orders.insert(try await harness.publishedKeys()) }
            #expect(orders.count > 1 && orders.allSatisfy { $0.count == 3 })
            let rotated = try await harness.control("keys/rotate", ["keys": 5])
            let published = try await harness.publishedKeys()
            let signing = try rotated.text("signing")
            #expect(published.count == 5 && published.contains(signing))
            let other = try #require(published.first { $0 != signing })
            try await harness.control("keys/rotate", ["signing": .string(other)])
            let token = try await harness.session()["id_token"]?.string
            #expect(try await harness.verified(token).header["kid"] == .string(other))
            #expect(try await Set(harness.publishedKeys()) == Set(published))
        },
        Quirk("the discovery document can have another issuer than the tokens") { harness in
            try await harness.control(
                "switches", ["discovery_issuer": "https://account.apple.com"])
            let document = await harness.get("/.well-known/openid-configuration")
            #expect(try JSON(document.body)["issuer"] == "https://account.apple.com")
            let token = try await harness.session()["id_token"]?.string
            #expect(try await harness.verified(token).payload["iss"] == "https://appleid.apple.com")
        },
        Quirk("email claims are booleans, strings, or absent") { harness in
            let bob = try await harness.claims(user: "bob")
            #expect(bob["email_verified"] == true && bob["is_private_email"] == true)
            let alice = try await harness.claims(user: "alice")
            #expect(alice["email_verified"] == true && alice["is_private_email"] == nil)
            try await harness.control("switches", ["email_claims": "string"])
            let before = try await harness.claims(user: "bob")
            #expect(before["email_verified"] == "true" && before["is_private_email"] == "true")
            let carol = try await harness.claims(user: "carol")
            #expect(carol["email"] == nil && carol["email_verified"] == nil)
        },
        Quirk("an App ID and a Services ID are different clients") { harness in
            let code = try await harness.code()
            let mismatch = try await harness.exchange(code, as: EmulatorHarness.web)
            #expect(
                mismatch
                    == Outcome(
                        "invalid_grant",
                        "client_id mismatch. The code was not issued to com.example.web."))
            var draft = SecretDraft(EmulatorHarness.web)
            let outcome = try await harness.teamToken(try draft.minted(by: harness.key))
            #expect(outcome == Outcome("invalid_client"), "sub is not client_id")
            draft.claim("sub", .string(EmulatorHarness.app))
            #expect(try await harness.teamToken(try draft.minted(by: harness.key)).status == 200)
        },
    ]

    private static let codes = [
        Quirk("a code works once, for five minutes, and is not accepted as a token") { harness in
            let expired = Outcome("invalid_grant", "The code has expired or has been revoked.")
            let used = Outcome("invalid_grant", "The code has already been used.")
            let code = try await harness.code()
            let session = try await harness.exchange(code)
            #expect(try await harness.exchange(code) == used)
            #expect(try await harness.exchange(try session.text("id_token")) == expired)
            let late = try await harness.code()
            try await harness.control("clock", ["offset": "300s"])
            try await harness.control("switches", ["secret_clock": "real"])
            #expect(try await harness.exchange(late) == expired)
        },
        Quirk("a client_secret of a clock that is ahead, or with milliseconds, is invalid") {
            harness in
            for claim in [EmulatorHarness.start.seconds + 60, EmulatorHarness.start.seconds * 1000]
            {
                var draft = SecretDraft()
                draft.claim("iat", .integer(claim))
                let outcome = try await harness.teamToken(try draft.minted(by: harness.key))
                #expect(outcome == Outcome("invalid_client"))
            }
        },
        Quirk("redirect_uri is compared byte for byte, and scopes need form_post") { harness in
            let slash = await harness.visit(["redirect_uri": EmulatorHarness.callback + "/"])
            #expect(
                slash.status == 400 && slash.text.contains("Invalid client id or web redirect url.")
            )
            let query = await harness.visit(["scope": "email", "response_mode": "query"])
            #expect(
                query.text.contains(
                    "response_mode must be form_post when name or email scope is requested."))
            let code = try await harness.code(EmulatorHarness.web)
            #expect(
                try await harness.exchange(code, as: EmulatorHarness.web)
                    == Outcome("invalid_grant"))
        },
        Quirk("a body that is not form-encoded is answered with invalid_client") { harness in
            for type in ["application/json", "multipart/form-data; boundary=x"] {
                let answer = await harness.post(
                    "/auth/token", body: Array("{}".utf8),
                    fields: [HTTPField("Content-Type", type)])
                #expect(Outcome(answer) == Outcome("invalid_client"))
            }
        },
        Quirk("a revocation is answered with 200 and no body, even if it fails") { harness in
            let token = try await harness.session().text("refresh_token")
            for (text, isAlive) in [("garbage", true), (token, false), (token, false)] {
                let answer = await harness.post(
                    "/auth/revoke",
                    [
                        ("client_id", EmulatorHarness.app), ("client_secret", try harness.secret()),
                        ("token", text),
                    ])
                #expect(answer.status == 200 && answer.body.isEmpty)
                #expect(try await harness.refresh(token).status == (isAlive ? 200 : 400))
            }
        },
    ]

    private static let answers = [
        Quirk("the events of a notification are a string, with milliseconds and account-delete") {
            harness in
            let sent = try await harness.control("notifications", ["type": "account-delete"])
            let claims = try await harness.verified(try sent.text("payload")).payload
            let event = try JSON(text: try claims.text("events"))
            #expect(event["type"] == "account-delete")
            #expect(event["event_time"] == .integer(EmulatorHarness.start.seconds * 1000))
        },
        Quirk("a code verifier is required with a code challenge, and refused without") { harness in
            let challenge = JSON.Member("code_challenge", "verifier")
            for (extra, sent, status) in [
                ([challenge], [("code_verifier", "verifier")], 200), ([challenge], [], 400),
                ([], [("code_verifier", "verifier")], 400), ([], [], 200),
            ] {
                let outcome = try await harness.exchange(
                    try await harness.code(EmulatorHarness.app, extra), as: EmulatorHarness.app,
                    sent)
                #expect(outcome.status == status)
            }
        },
        Quirk("a migration refuses single users with invalid_request and no description") {
            harness in
            let transfer = try await TransferHarness()
            let bearer = try await transfer.bearer(.sender)
            let bad = try await transfer.ask(
                .sender,
                [("sub", "000000.x.0000"), ("target", EmulatorHarness.recipient.rawValue)],
                bearer: bearer)
            #expect(bad == Outcome("invalid_request"))
            #expect(try await transfer.export("alice", bearer: bearer).status == 200)
            let own = try await transfer.export("alice", to: EmulatorHarness.team, bearer: bearer)
            #expect(own.status == 200, "the own team as target is taken")
            #expect(try await transfer.admit(try own.text("transfer_sub")).status == 400)
        },
        Quirk("a client_secret expires after six months, and every request fails then") { harness in
            var draft = SecretDraft()
            draft.claim("exp", .integer(EmulatorHarness.start.seconds + 15_777_000))
            let secret = try draft.minted(by: harness.key)
            #expect(try await harness.teamToken(secret).status == 200)
            try await harness.control("clock", ["offset": .integer(15_777_000)])
            #expect(try await harness.teamToken(secret) == Outcome("invalid_client"))
        },
        Quirk("the name and the user field are sent at the first sign-in only") { harness in
            let first = try await harness.callback()["user"]
            let second = try await harness.callback()["user"]
            #expect(first?.contains("firstName") == true && second == nil)
        },
    ]

    private static let rest = [
        Quirk("a refresh returns no new refresh token") { harness in
            let token = try await harness.session().text("refresh_token")
            let refreshed = try await harness.refresh(token)
            #expect(
                refreshed.body.members?.map(\.name)
                    == ["access_token", "token_type", "expires_in", "id_token"])
            #expect(try await harness.refresh(token).status == 200)
        },
        Quirk("an invalid code is refused before the client_secret is examined") { harness in
            let outcome = try await harness.token([
                ("grant_type", "authorization_code"), ("code", "dummy"), ("client_secret", "bad"),
            ])
            #expect(
                outcome == Outcome("invalid_grant", "The code has expired or has been revoked."))
        },
        Quirk("identity tokens have no typ") { harness in
            let token = try await harness.session()["id_token"]?.string
            let header = try await harness.verified(token).header
            #expect(header.members?.map(\.name) == ["kid", "alg"] && header["alg"] == "RS256")
        },
        Quirk("an answer can be HTML or empty where JSON is expected") { harness in
            for (fault, type) in [
                (["status": 503], "text/html"), (["status": 403], nil),
            ] as [(JSON, String?)] {
                try await harness.control("faults", fault)
                let answer = await harness.post("/auth/token", [])
                #expect(answer.fields["content-type"] == type)
                #expect(answer.body.isEmpty == (type == nil))
            }
        },
    ]
}

extension EmulatorHarness {
    fileprivate func teamToken(_ secret: String) async throws -> Outcome {
        try await token([
            ("client_secret", secret), ("grant_type", "client_credentials"),
            ("scope", "user.migration"),
        ])
    }

    fileprivate func publishedKeys() async throws -> [String] {
        let keys = try JSON(await get("/auth/keys").body)["keys"]?.elements
        return try #require(keys).map { try $0.text("kid") }
    }

    fileprivate func claims(user: String) async throws -> JSON {
        let session = try await session(Self.app, [JSON.Member("user", .string(user))])
        return try await verified(session["id_token"]?.string).payload
    }
}
