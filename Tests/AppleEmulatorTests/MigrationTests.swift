import SignInWithApple
import TestSupport
import Testing

/// `/auth/usermigrationinfo`: what both teams get, and what they are refused.
@Suite struct MigrationTests {
    private static let refused = Outcome("invalid_request")
    private static let deadBearer = Outcome("invalid_grant")

    @Test func `a user goes and arrives, under names that stay the same`() async throws {
        let passage = try await Passage()
        let shape = Stand.identifierShape
        let first = try await passage.export("alice")
        let name = try first.text("transfer_sub")
        #expect(first.status == 200 && first.body.members?.count == 1)
        #expect(name.wholeMatch(of: shape) != nil)
        #expect(try await passage.export("alice") == first)
        #expect(try await passage.export("alice", as: Stand.other) == first)
        #expect(try await passage.export("bob") != first)

        try await passage.stand.control("transfer")
        #expect(try await passage.export("alice") == first)
        let arrived = try await passage.admit(name)
        #expect(arrived.status == 200 && arrived.body.members?.map(\.name) == ["sub"])
        let userID = try arrived.text("sub")
        #expect(userID.wholeMatch(of: shape) != nil && userID != name)
        #expect(try await passage.admit(name) == arrived)
    }

    @Test func `only a relay address comes along`() async throws {
        let passage = try await Passage(accepted: "1d")
        let bob = try await passage.admit(passage.export("bob").text("transfer_sub"))
        #expect(bob.body.members?.map(\.name) == ["sub", "email", "is_private_email"])
        #expect(bob.body["email"] == "qwertz1234@privaterelay.appleid.com")
        #expect(bob.body["is_private_email"] == true)
    }

    @Test(arguments: [
        ("no sub", [("target", "R1C2P3N4T5")], "sub: missing or empty"),
        ("no target", [("sub", "001234.0123456789abcdef.0830")], "target: missing or empty"),
        ("no such user", [("sub", "1.2.3"), ("target", "R1C2P3N4T5")], "sub: no such user"),
        (
            "a Team ID for a user", [("sub", "A1B2C3D4E5"), ("target", "R1C2P3N4T5")],
            "sub: this is a Team ID"
        ),
        (
            "no such team", [("sub", "001234.0123456789abcdef.0830"), ("target", "X1B2C3D4E5")],
            "target: no team 'X1B2C3D4E5'"
        ),
        (
            "sub twice", [("sub", "a"), ("sub", "b"), ("target", "R1C2P3N4T5")],
            "sub: stands there twice"
        ),
    ])
    func `an export is refused`(
        _ name: String, _ parameters: [(String, String)], _ verdict: String
    ) async throws {
        let passage = try await Passage()
        #expect(try await passage.ask(.sender, parameters) == Self.refused)
        #expect(try await passage.stand.verdict() == verdict)
    }

    @Test func `an identifier for the own team is made, and is of no use`() async throws {
        let passage = try await Passage(accepted: "1d")
        let useless = try await passage.export("alice", to: Stand.team)
        #expect(useless.status == 200)
        #expect(try await passage.stand.verdict() == "ok, and of no use: target is the own team")
        #expect(try await passage.admit(useless.text("transfer_sub")) == Self.refused)
        #expect(try await passage.stand.verdict() == "transfer_sub: made for team A1B2C3D4E5")
    }

    @Test func `a user who revoked the client neither goes nor arrives, until they return`()
        async throws
    {
        let passage = try await Passage()
        let name = try await passage.export("alice").text("transfer_sub")
        try await passage.stand.control("notifications", ["type": "consent-revoked"])
        #expect(try await passage.export("alice") == Self.refused)
        #expect(try await passage.stand.verdict() == "user: 'alice' has revoked the client")
        #expect(try await passage.export("bob").status == 200)
        try await passage.stand.control("transfer")
        #expect(try await passage.admit(name) == Self.refused)
        _ = try await passage.stand.code()
        #expect(try await passage.admit(name).status == 200)
    }

    @Test func `whether a stranger migrates is a switch`() async throws {
        let passage = try await Passage(["migration_needs_sign_in": true])
        #expect(try await passage.export("alice") == Self.refused)
        _ = try await passage.stand.code()
        #expect(try await passage.export("alice").status == 200)
    }

    @Test func `each half has its team and its time`() async throws {
        let passage = try await Passage()
        let name = try await passage.export("alice").text("transfer_sub")
        let alice = [("sub", try Passage.userID("alice")), ("target", "R1C2P3N4T5")]
        for (half, side, verdict) in [
            (
                [("transfer_sub", name)], Passage.Side.recipient,
                "moment: the transfer is not accepted yet"
            ),
            (alice, .recipient, "team: R1C2P3N4T5 does the other half of it"),
        ] {
            #expect(try await passage.ask(side, half) == Self.refused)
            #expect(try await passage.stand.verdict() == verdict)
        }
        try await passage.stand.control("transfer", ["ago": "59d"])
        #expect(try await passage.export("alice").status == 200)
        #expect(try await passage.admit(name).status == 200)
        #expect(try await passage.ask(.sender, [("transfer_sub", name)]) == Self.refused)
        let both = [("transfer_sub", name), ("sub", "x")]
        #expect(try await passage.ask(.recipient, both) == Self.refused)
        #expect(try await passage.admit("000000.00.0000") == Self.refused)
        #expect(try await passage.stand.verdict() == "transfer_sub: never issued")
        try await passage.stand.control("transfer", ["ago": "60d"])
        #expect(try await passage.export("alice") == Self.refused)
        #expect(try await passage.admit(name) == Self.refused)
        #expect(try await passage.stand.verdict().hasPrefix("moment: the 60 days ended at 2027-"))
    }

    @Test func `a bearer token lives an hour and belongs to one client of one team`() async throws {
        let passage = try await Passage(["access_token_lifetime": 60])
        let bearer = try await passage.bearer(.sender)
        for _ in 0..<3 {
            #expect(try await passage.export("alice", bearer: bearer).status == 200)
        }
        #expect(
            try await passage.export("alice", bearer: bearer, as: Stand.other) == Self.refused)
        #expect(try await passage.stand.verdict().hasPrefix("bearer: issued to com.example.app"))
        let foreign = try await passage.bearer(.recipient)
        #expect(try await passage.export("alice", bearer: foreign) == Self.refused)
        #expect(try await passage.export("alice", bearer: "a1") == Self.deadBearer)
        try await passage.stand.control("clock", ["offset": "60s"])
        #expect(try await passage.export("alice", bearer: bearer) == Self.deadBearer)
    }

    @Test func `no bearer token is a bad request, a bad secret is not looked past`() async throws {
        let passage = try await Passage()
        let parameters = [
            ("client_id", Stand.app), ("sub", try Passage.userID("alice")),
            ("target", "R1C2P3N4T5"),
        ]
        let path = "/auth/usermigrationinfo"
        let secret = [("client_secret", try passage.secret(.sender))]
        #expect(Outcome(await passage.stand.post(path, parameters + secret)) == Self.refused)
        let fields = [HTTPField("Authorization", "bearer \(try await passage.bearer(.sender))")]
        #expect(
            Outcome(await passage.stand.post(path, parameters + secret, fields: fields)).status
                == 200)
        let bad = [("client_secret", "x.y.z")]
        #expect(
            Outcome(await passage.stand.post(path, parameters + bad, fields: fields))
                == Outcome("invalid_client"))
    }

    @Test func `a user's own token is good for that user, once`() async throws {
        let passage = try await Passage()
        let own = try await passage.stand.session().text("access_token")
        #expect(try await passage.export("bob", bearer: own) == Self.refused)
        #expect(try await passage.export("alice", bearer: own).status == 200)
        #expect(try await passage.export("alice", bearer: own) == Self.deadBearer)
    }

    @Test func `after the transfer the clients are the recipient's`() async throws {
        let passage = try await Passage()
        let before = try await passage.stand.session()
        let name = try await passage.export("alice").text("transfer_sub")
        try await passage.stand.control("transfer", ["ago": "1d"])
        let code = try await passage.stand.code()
        #expect(try await passage.stand.exchange(code) == Outcome("invalid_client"))
        let secret = [("client_secret", try passage.secret(.recipient))]
        let exchanged = try await passage.stand.exchange(code, secret)
        let claims = try await passage.stand.verified(exchanged.text("id_token")).payload
        let arrived = try await passage.admit(name)
        #expect(claims["sub"] == arrived.body["sub"])
        #expect(claims["transfer_sub"]?.string == name)
        let old = try await passage.stand.verified(before["id_token"]?.string).payload
        #expect(old["sub"] != claims["sub"] && old["transfer_sub"] == nil)
    }

    @Test func `a recipient that is early can be refused altogether`() async throws {
        let passage = try await Passage(["early_recipient": "invalid_client"])
        let grant = [
            ("client_secret", try passage.secret(.recipient)),
            ("grant_type", "client_credentials"), ("scope", "user.migration"),
        ]
        #expect(try await passage.stand.token(grant) == Outcome("invalid_client"))
        try await passage.stand.control("transfer")
        #expect(try await passage.stand.token(grant).status == 200)
    }

    @Test func `no transfer is accepted in the future`() async throws {
        let passage = try await Passage()
        await #expect(throws: (any Error).self) {
            try await passage.stand.control("transfer", ["ago": "-1s"])
        }
    }
}
