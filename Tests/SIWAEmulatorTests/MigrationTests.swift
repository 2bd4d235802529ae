import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `/auth/usermigrationinfo`: what both teams get, and what they are refused.
@Suite struct MigrationTests {
    private static let refused = Outcome("invalid_request")
    private static let deadBearer = Outcome("invalid_grant")

    @Test func `a user is exported and imported with stable ids`() async throws {
        let transfer = try await TransferHarness()
        let shape = EmulatorHarness.identifierShape
        let first = try await transfer.export("alice")
        let name = try first.text("transfer_sub")
        #expect(first.status == 200 && first.body.members?.count == 1)
        #expect(name.wholeMatch(of: shape) != nil)
        #expect(try await transfer.export("alice") == first)
        #expect(try await transfer.export("alice", as: EmulatorHarness.other) == first)
        #expect(try await transfer.export("bob") != first)

        try await transfer.harness.control("transfer")
        #expect(try await transfer.export("alice") == first)
        let arrived = try await transfer.admit(name)
        #expect(arrived.status == 200 && arrived.body.members?.map(\.name) == ["sub"])
        let userID = try arrived.text("sub")
        #expect(userID.wholeMatch(of: shape) != nil && userID != name)
        #expect(try await transfer.admit(name) == arrived)
    }

    @Test func `an imported user has only a relay address`() async throws {
        let transfer = try await TransferHarness(accepted: "1d")
        let bob = try await transfer.admit(transfer.export("bob").text("transfer_sub"))
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
            "sub: given twice"
        ),
    ])
    func `an invalid export request is refused`(
        _ name: String, _ parameters: [(String, String)], _ verdict: String
    ) async throws {
        let transfer = try await TransferHarness()
        #expect(try await transfer.ask(.sender, parameters) == Self.refused)
        #expect(try await transfer.harness.verdict() == verdict)
    }

    @Test func `an export to the same team returns an id that cannot be imported`() async throws {
        let transfer = try await TransferHarness(accepted: "1d")
        let useless = try await transfer.export("alice", to: EmulatorHarness.team)
        #expect(useless.status == 200)
        #expect(try await transfer.harness.verdict() == "ok, but useless: target is the own team")
        #expect(try await transfer.admit(useless.text("transfer_sub")) == Self.refused)
        #expect(try await transfer.harness.verdict() == "transfer_sub: made for team A1B2C3D4E5")
    }

    @Test
    func `a user who revoked the client cannot be exported or imported until the next sign-in`()
        async throws
    {
        let transfer = try await TransferHarness()
        let name = try await transfer.export("alice").text("transfer_sub")
        try await transfer.harness.control("notifications", ["type": "consent-revoked"])
        #expect(try await transfer.export("alice") == Self.refused)
        #expect(try await transfer.harness.verdict() == "user: 'alice' has revoked the client")
        #expect(try await transfer.export("bob").status == 200)
        try await transfer.harness.control("transfer")
        #expect(try await transfer.admit(name) == Self.refused)
        _ = try await transfer.harness.code()
        #expect(try await transfer.admit(name).status == 200)
    }

    @Test func `a switch decides whether a user who never signed in can be exported`() async throws
    {
        let transfer = try await TransferHarness(["migration_needs_sign_in": true])
        #expect(try await transfer.export("alice") == Self.refused)
        _ = try await transfer.harness.code()
        #expect(try await transfer.export("alice").status == 200)
    }

    @Test func `export and import are each limited to one team and to 60 days`() async throws {
        let transfer = try await TransferHarness()
        let name = try await transfer.export("alice").text("transfer_sub")
        let alice = [("sub", try TransferHarness.userID("alice")), ("target", "R1C2P3N4T5")]
        for (half, side, verdict) in [
            (
                [("transfer_sub", name)], TransferHarness.Side.recipient,
                "moment: the transfer is not accepted yet"
            ),
            (alice, .recipient, "team: R1C2P3N4T5 does the other half of it"),
        ] {
            #expect(try await transfer.ask(side, half) == Self.refused)
            #expect(try await transfer.harness.verdict() == verdict)
        }
        try await transfer.harness.control("transfer", ["ago": "59d"])
        #expect(try await transfer.export("alice").status == 200)
        #expect(try await transfer.admit(name).status == 200)
        #expect(try await transfer.ask(.sender, [("transfer_sub", name)]) == Self.refused)
        let both = [("transfer_sub", name), ("sub", "x")]
        #expect(try await transfer.ask(.recipient, both) == Self.refused)
        #expect(try await transfer.admit("000000.00.0000") == Self.refused)
        #expect(try await transfer.harness.verdict() == "transfer_sub: never issued")
        try await transfer.harness.control("transfer", ["ago": "60d"])
        #expect(try await transfer.export("alice") == Self.refused)
        #expect(try await transfer.admit(name) == Self.refused)
        #expect(
            try await transfer.harness.verdict().hasPrefix("moment: the 60 days ended at 2027-"))
    }

    @Test func `a bearer token is valid for an hour, for one client of one team`() async throws {
        let transfer = try await TransferHarness(["access_token_lifetime": 60])
        let bearer = try await transfer.bearer(.sender)
        for _ in 0..<3 {
            #expect(try await transfer.export("alice", bearer: bearer).status == 200)
        }
        #expect(
            try await transfer.export("alice", bearer: bearer, as: EmulatorHarness.other)
                == Self.refused)
        #expect(try await transfer.harness.verdict().hasPrefix("bearer: issued to com.example.app"))
        let foreign = try await transfer.bearer(.recipient)
        #expect(try await transfer.export("alice", bearer: foreign) == Self.refused)
        #expect(try await transfer.export("alice", bearer: "a1") == Self.deadBearer)
        try await transfer.harness.control("clock", ["offset": "60s"])
        #expect(try await transfer.export("alice", bearer: bearer) == Self.deadBearer)
    }

    @Test func `a missing bearer token is a bad request, and an invalid client secret is refused`()
        async throws
    {
        let transfer = try await TransferHarness()
        let parameters = [
            ("client_id", EmulatorHarness.app), ("sub", try TransferHarness.userID("alice")),
            ("target", "R1C2P3N4T5"),
        ]
        let path = "/auth/usermigrationinfo"
        let secret = [("client_secret", try transfer.secret(.sender))]
        #expect(Outcome(await transfer.harness.post(path, parameters + secret)) == Self.refused)
        let fields = [HTTPField("Authorization", "bearer \(try await transfer.bearer(.sender))")]
        #expect(
            Outcome(await transfer.harness.post(path, parameters + secret, fields: fields)).status
                == 200)
        let bad = [("client_secret", "x.y.z")]
        #expect(
            Outcome(await transfer.harness.post(path, parameters + bad, fields: fields))
                == Outcome("invalid_client"))
    }

    @Test func `a user's own token exports that user once`() async throws {
        let transfer = try await TransferHarness()
        let own = try await transfer.harness.session().text("access_token")
        #expect(try await transfer.export("bob", bearer: own) == Self.refused)
        #expect(try await transfer.export("alice", bearer: own).status == 200)
        #expect(try await transfer.export("alice", bearer: own) == Self.deadBearer)
    }

    @Test func `after the transfer, the clients belong to the recipient team`() async throws {
        let transfer = try await TransferHarness()
        let before = try await transfer.harness.session()
        let name = try await transfer.export("alice").text("transfer_sub")
        try await transfer.harness.control("transfer", ["ago": "1d"])
        let code = try await transfer.harness.code()
        #expect(try await transfer.harness.exchange(code) == Outcome("invalid_client"))
        let secret = [("client_secret", try transfer.secret(.recipient))]
        let exchanged = try await transfer.harness.exchange(code, secret)
        let claims = try await transfer.harness.verified(exchanged.text("id_token")).payload
        let arrived = try await transfer.admit(name)
        #expect(claims["sub"] == arrived.body["sub"])
        #expect(claims["transfer_sub"]?.string == name)
        let old = try await transfer.harness.verified(before["id_token"]?.string).payload
        #expect(old["sub"] != claims["sub"] && old["transfer_sub"] == nil)
    }

    @Test func `a switch refuses the recipient's credentials before the transfer`() async throws {
        let transfer = try await TransferHarness(["early_recipient": "invalid_client"])
        let grant = [
            ("client_secret", try transfer.secret(.recipient)),
            ("grant_type", "client_credentials"), ("scope", "user.migration"),
        ]
        #expect(try await transfer.harness.token(grant) == Outcome("invalid_client"))
        try await transfer.harness.control("transfer")
        #expect(try await transfer.harness.token(grant).status == 200)
    }

    @Test func `a transfer date in the future is refused`() async throws {
        let transfer = try await TransferHarness()
        await #expect(throws: (any Error).self) {
            try await transfer.harness.control("transfer", ["ago": "-1s"])
        }
    }
}
