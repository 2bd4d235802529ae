import AppleEmulator
import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

/// A habit of Apple's that breaks naive clients, ranked by how many public threads report it, and
/// what a client sees of it here.
struct Quirk: Sendable, CustomTestStringConvertible {
    let rank: Int
    let name: String
    let see: @Sendable (Stand) async throws -> Void

    init(_ rank: Int, _ name: String, _ see: @escaping @Sendable (Stand) async throws -> Void) {
        (self.rank, self.name, self.see) = (rank, name, see)
    }

    var testDescription: String { "\(rank). \(name)" }
}

@Suite struct QuirkTests {
    @Test(arguments: Quirk.all) func `the emulator has it`(_ quirk: Quirk) async throws {
        try await quirk.see(try await Stand())
    }

    @Test func `none is missing`() {
        #expect(Quirk.all.map(\.rank) == Array(1...19))
    }
}

extension Quirk {
    static let all = clients + codes + answers + rest

    private static let clients = [
        Quirk(1, "invalid_client without a detail, whatever is wrong with the secret") { stand in
            for row in SpoiledSecret.all {
                var draft = SecretDraft()
                row.spoil(&draft)
                let outcome = try await stand.teamToken(try draft.minted(by: stand.key))
                #expect(outcome == Outcome("invalid_client"), "\(row.testDescription)")
            }
        },
        Quirk(2, "several keys, in another order each time, rotated") { stand in
            var orders: Set<[String]> = []
            for _ in 0..<40 { orders.insert(try await stand.publishedKeys()) }
            #expect(orders.count > 1 && orders.allSatisfy { $0.count == 3 })
            let rotated = try await stand.control("keys/rotate", ["keys": 5])
            let published = try await stand.publishedKeys()
            let signing = try rotated.text("signing")
            #expect(published.count == 5 && published.contains(signing))
        },
        Quirk(3, "a discovery document with another issuer, while tokens keep theirs") { stand in
            try await stand.control(
                "switches", ["discovery_issuer": "https://account.apple.com"])
            let document = await stand.get("/.well-known/openid-configuration")
            #expect(try JSON(document.body)["issuer"] == "https://account.apple.com")
            let token = try await stand.session()["id_token"]?.string
            #expect(try await stand.verified(token).payload["iss"] == "https://appleid.apple.com")
        },
        Quirk(4, "email claims as booleans, as strings, or absent") { stand in
            let bob = try await stand.claims(user: "bob")
            #expect(bob["email_verified"] == true && bob["is_private_email"] == true)
            let alice = try await stand.claims(user: "alice")
            #expect(alice["email_verified"] == true && alice["is_private_email"] == nil)
            try await stand.control("switches", ["email_claims": "string"])
            let before = try await stand.claims(user: "bob")
            #expect(before["email_verified"] == "true" && before["is_private_email"] == "true")
            let carol = try await stand.claims(user: "carol")
            #expect(carol["email"] == nil && carol["email_verified"] == nil)
        },
        Quirk(5, "App ID and Services ID are different clients") { stand in
            let code = try await stand.code()
            let mismatch = try await stand.exchange(code, as: Stand.web)
            #expect(
                mismatch
                    == Outcome(
                        "invalid_grant",
                        "client_id mismatch. The code was not issued to com.example.web"))
            var draft = SecretDraft(Stand.web)
            let outcome = try await stand.teamToken(try draft.minted(by: stand.key))
            #expect(outcome == Outcome("invalid_client"), "sub is not client_id")
            draft.claim("sub", .string(Stand.app))
            #expect(try await stand.teamToken(try draft.minted(by: stand.key)).status == 200)
        },
    ]

    private static let codes = [
        Quirk(6, "a code works once, for five minutes, and is no other artefact") { stand in
            let expired = Outcome("invalid_grant", "The code has expired or has been revoked.")
            let used = Outcome("invalid_grant", "The code has already been used.")
            let code = try await stand.code()
            let session = try await stand.exchange(code)
            #expect(try await stand.exchange(code) == used)
            #expect(try await stand.exchange(try session.text("id_token")) == expired)
            let late = try await stand.code()
            try await stand.control("clock", ["offset": "300s"])
            try await stand.control("switches", ["secret_clock": "real"])
            #expect(try await stand.exchange(late) == expired)
        },
        Quirk(7, "a clock that is ahead, or counts milliseconds, is invalid_client") { stand in
            for claim in [Stand.start.seconds + 60, Stand.start.seconds * 1000] {
                var draft = SecretDraft()
                draft.claim("iat", .integer(claim))
                let outcome = try await stand.teamToken(try draft.minted(by: stand.key))
                #expect(outcome == Outcome("invalid_client"))
            }
        },
        Quirk(8, "redirect_uri is compared byte for byte, and scopes need form_post") { stand in
            let slash = await stand.visit(["redirect_uri": Stand.callback + "/"])
            #expect(slash.status == 400 && slash.text.contains("Invalid web redirect url"))
            let query = await stand.visit(["scope": "email", "response_mode": "query"])
            #expect(
                query.text.contains(
                    "response_mode must be form_post when name or email scope is requested."))
            let code = try await stand.code(Stand.web)
            #expect(try await stand.exchange(code, as: Stand.web) == Outcome("invalid_grant"))
        },
        Quirk(9, "a body that is not form-encoded is invalid_client") { stand in
            for type in ["application/json", "multipart/form-data; boundary=x"] {
                let answer = await stand.post(
                    "/auth/token", body: Array("{}".utf8),
                    fields: [HTTPField("Content-Type", type)])
                #expect(Outcome(answer) == Outcome("invalid_client"))
            }
        },
        Quirk(10, "a revocation is 200 without a body, whatever comes of it") { stand in
            let token = try await stand.session().text("refresh_token")
            for (text, isAlive) in [("garbage", true), (token, false), (token, false)] {
                let answer = await stand.post(
                    "/auth/revoke",
                    [
                        ("client_id", Stand.app), ("client_secret", try stand.secret()),
                        ("token", text),
                    ])
                #expect(answer.status == 200 && answer.body.isEmpty)
                #expect(try await stand.refresh(token).status == (isAlive ? 200 : 400))
            }
        },
    ]

    private static let answers = [
        Quirk(11, "a notification's events are a string, in milliseconds, account-delete") {
            stand in
            let sent = try await stand.control("notifications", ["type": "account-delete"])
            let claims = try await stand.verified(try sent.text("payload")).payload
            let event = try JSON(text: try claims.text("events"))
            #expect(event["type"] == "account-delete")
            #expect(event["event_time"] == .integer(Stand.start.seconds * 1000))
        },
        Quirk(12, "PKCE is all or nothing") { stand in
            let challenge = JSON.Member("code_challenge", "verifier")
            for (extra, sent, status) in [
                ([challenge], [("code_verifier", "verifier")], 200), ([challenge], [], 400),
                ([], [("code_verifier", "verifier")], 400), ([], [], 200),
            ] {
                let outcome = try await stand.exchange(
                    try await stand.code(Stand.app, extra), as: Stand.app, sent)
                #expect(outcome.status == status)
            }
        },
        Quirk(13, "a migration refuses single users with a bare invalid_request") { stand in
            let passage = try await Passage()
            let bearer = try await passage.bearer(.sender)
            let bad = try await passage.ask(
                .sender, [("sub", "000000.x.0000"), ("target", Stand.recipient.rawValue)],
                bearer: bearer)
            #expect(bad == Outcome("invalid_request"))
            #expect(try await passage.export("alice", bearer: bearer).status == 200)
            let own = try await passage.export("alice", to: Stand.team, bearer: bearer)
            #expect(own.status == 200, "the own team as target is taken")
            #expect(try await passage.admit(try own.text("transfer_sub")).status == 400)
        },
        Quirk(14, "a secret expires after six months, and everything stops") { stand in
            var draft = SecretDraft()
            draft.claim("exp", .integer(Stand.start.seconds + 15_777_000))
            let secret = try draft.minted(by: stand.key)
            #expect(try await stand.teamToken(secret).status == 200)
            try await stand.control("clock", ["offset": .integer(15_777_000)])
            #expect(try await stand.teamToken(secret) == Outcome("invalid_client"))
        },
        Quirk(15, "the name and the user field come once") { stand in
            let first = try await stand.callback()["user"]
            let second = try await stand.callback()["user"]
            #expect(first?.contains("firstName") == true && second == nil)
        },
    ]

    private static let rest = [
        Quirk(16, "a refresh returns no new refresh token") { stand in
            let token = try await stand.session().text("refresh_token")
            let refreshed = try await stand.refresh(token)
            #expect(
                refreshed.body.members?.map(\.name)
                    == ["access_token", "token_type", "expires_in", "id_token"])
            #expect(try await stand.refresh(token).status == 200)
        },
        Quirk(17, "a dummy code proves nothing about the secret") { stand in
            let outcome = try await stand.token([
                ("grant_type", "authorization_code"), ("code", "dummy"), ("client_secret", "bad"),
            ])
            #expect(
                outcome == Outcome("invalid_grant", "The code has expired or has been revoked."))
        },
        Quirk(18, "identity tokens have no typ") { stand in
            let token = try await stand.session()["id_token"]?.string
            let header = try await stand.verified(token).header
            #expect(header.members?.map(\.name) == ["kid", "alg"] && header["alg"] == "RS256")
        },
        Quirk(19, "HTML, or nothing, where JSON is expected") { stand in
            for (fault, type) in [
                (["status": 503], "text/html"), (["status": 403], nil),
            ] as [(JSON, String?)] {
                try await stand.control("faults", fault)
                let answer = await stand.post("/auth/token", [])
                #expect(answer.fields["content-type"] == type)
                #expect(answer.body.isEmpty == (type == nil))
            }
        },
    ]
}

extension Stand {
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
