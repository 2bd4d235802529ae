import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `POST /emulator/seed`: many users at once.
@Suite struct SeedTests {
    @Test func `one call creates 20,000 users with valid tokens`() async throws {
        let harness = try await EmulatorHarness()
        let answer = await seed(harness, #"{"users": 20000, "format": "lines"}"#)
        #expect(answer.status == 200 && answer.fields["content-type"] == "application/x-ndjson")
        let lines = answer.body.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 20_000)
        var tokens: Set<String> = []
        for index in [0, 1, 10_000, 19_999] {
            let row = try JSON(Array(lines[index]))
            #expect(row["user"] == .string("seed\(index + 1)"))
            #expect(row["client_id"] == .string(EmulatorHarness.app))
            tokens.insert(try row.text("refresh_token"))
            let refreshed = try await harness.refresh(try row.text("refresh_token"))
            let claims = try await harness.verified(try refreshed.text("id_token")).payload
            #expect(claims["sub"] == row["user_id"])
            #expect(claims["is_private_email"] == (index % 2 == 1 ? true : nil))
        }
        #expect(tokens.count == 4)
        #expect(Set(lines.map { Array($0.suffix(30)) }).count == 20_000, "all differ")
    }

    @Test func `users can have several tokens, of another client, in addition to earlier ones`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let first = try await rows(harness, ["users": 2])
        let second = try await rows(
            harness, ["users": 2, "tokens": 3, "client_id": .string(EmulatorHarness.web)])
        #expect(try first.map { try $0.text("user") } == ["seed1", "seed2"])
        #expect(
            try second.map { try $0.text("user") }
                == ["seed3", "seed3", "seed3", "seed4", "seed4", "seed4"])
        #expect(Set(second.compactMap { $0["refresh_token"]?.string }).count == 6)
        for row in second {
            let token = try row.text("refresh_token")
            #expect(try await harness.refresh(token, as: EmulatorHarness.web).status == 200)
        }
    }

    @Test func `seeded users sign in, revoke their consent and migrate like other users`()
        async throws
    {
        let transfer = try await TransferHarness()
        let harness = transfer.harness
        let rows = try await rows(harness, ["users": 3])
        #expect(
            try await harness.code(EmulatorHarness.app, [JSON.Member("user", "seed2")]).hasPrefix(
                "c"))
        try await harness.control("notifications", ["type": "consent-revoked", "user": "seed1"])
        let statuses = try await [
            harness.refresh(rows[0].text("refresh_token")).status,
            harness.refresh(rows[1].text("refresh_token")).status,
        ]
        #expect(statuses == [400, 200])
        let exported = try await transfer.ask(
            .sender,
            [("sub", try rows[2].text("user_id")), ("target", EmulatorHarness.recipient.rawValue)])
        #expect(exported.status == 200)
        try await harness.control("reset")
        #expect(try await harness.refresh(rows[1].text("refresh_token")).status == 400)
    }

    @Test func `the page lists at most a hundred users`() async throws {
        let harness = try await EmulatorHarness()
        _ = try await rows(harness, ["users": 500])
        let page = await harness.visit()
        #expect(page.text.matches(of: /name="user"/).count == 100)
    }

    @Test(arguments: [
        (#"{}"#, "'users' is missing"), (#"{"users": 0}"#, "'users' must be 1 to 1000000"),
        (#"{"users": 1, "tokens": 11}"#, "'tokens' 1 to 10"),
        (#"{"users": 1, "format": "csv"}"#, "'format' must be one of 'json', 'lines'"),
        (#"{"users": 1, "client_id": "com.example.unknown"}"#, "is not a client; known are"),
    ])
    func `an invalid seed is refused`(_ body: String, _ message: String) async throws {
        let answer = await seed(try await EmulatorHarness(), body)
        #expect(answer.status == 400)
        #expect(try JSON(answer.body).text("error_description").contains(message))
    }

    private func rows(_ harness: EmulatorHarness, _ body: JSON) async throws -> [JSON] {
        try #require(try await harness.control("seed", body)["users"]?.elements)
    }

    private func seed(_ harness: EmulatorHarness, _ body: String) async -> HTTPResponse {
        await harness.post(
            "/emulator/seed", body: Array(body.utf8),
            fields: [HTTPField("Host", "localhost"), HTTPField("Content-Type", "application/json")])
    }
}
