import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct CodeGrantTests {
    private static let expired = Outcome(
        "invalid_grant", "The code has expired or has been revoked.")

    @Test func `the response has the recorded members in the recorded order`() async throws {
        let harness = try await EmulatorHarness()
        let response = await harness.post(
            "/auth/token",
            [
                ("client_id", EmulatorHarness.app), ("client_secret", try harness.secret()),
                ("grant_type", "authorization_code"), ("code", try await harness.code()),
            ])
        #expect(response.status == 200)
        let body = try JSON(response.body)
        #expect(
            body.members?.map(\.name)
                == ["access_token", "token_type", "expires_in", "refresh_token", "id_token"])
        #expect(body["token_type"] == "Bearer" && body["expires_in"] == 3600)
        #expect(response.fields["content-type"] == "application/json;charset=UTF-8")
        #expect(response.fields["cache-control"] == "no-store")
        #expect(response.fields["pragma"] == "no-cache")
        #expect(response.fields["server"] == "Apple")
        #expect(response.fields["date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
        let requestID = try #require(response.fields["x-apple-i-request-id"])
        let shape = /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/
        #expect(requestID.wholeMatch(of: shape) != nil)
    }

    @Test func `codes and tokens have the recorded shape and the same shard`() async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        let answer = try await harness.exchange(code)
        let texts = [
            code, try answer.text("access_token"), try answer.text("refresh_token"),
        ]
        let shape = /([car])[0-9a-f]{32}\.0\.([m-np-qrstu-z]{3,5})\.[A-Za-z0-9_-]{22}/
        let matches = texts.map { $0.wholeMatch(of: shape) }
        #expect(matches.map { $0?.output.1 } == ["c", "a", "r"])
        #expect(Set(matches.map { $0?.output.2 }).count == 1)
    }

    @Test(arguments: ["test code", "eyJhbGciOiJSUzI1NiJ9.e30.AA", "c0123.0.rsy.x"])
    func `an unknown code is refused`(_ code: String) async throws {
        let harness = try await EmulatorHarness()
        #expect(try await harness.exchange(code) == Self.expired)
    }

    @Test func `a code is accepted once`() async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        #expect(try await harness.exchange(code).status == 200)
        #expect(
            try await harness.exchange(code)
                == Outcome("invalid_grant", "The code has already been used."))
    }

    @Test func `a code expires after 300 seconds`() async throws {
        let harness = try await EmulatorHarness()
        let (first, second) = (try await harness.code(), try await harness.code())
        try await harness.control("clock", ["offset": 299])
        #expect(try await harness.exchange(first).status == 200)
        try await harness.control("clock", ["offset": "5m"])
        let draft = SecretDraft(at: EmulatorHarness.start + .seconds(300))
        let late = [
            ("client_secret", try draft.minted(by: harness.key)),
            ("grant_type", "authorization_code"), ("code", second),
        ]
        #expect(try await harness.token(late) == Self.expired)
        #expect(try await harness.verdict() == "code: 5 minutes old")
    }

    @Test(arguments: [("", false), (".", true)])
    func `a code of another client is refused`(_ stop: String, _ isSet: Bool) async throws {
        let harness = try await EmulatorHarness(["mismatch_full_stop": .boolean(isSet)])
        let outcome = try await harness.exchange(try await harness.code(), as: EmulatorHarness.web)
        let text = "client_id mismatch. The code was not issued to com.example.web\(stop)"
        #expect(outcome == Outcome("invalid_grant", text))
    }

    @Test(arguments: [
        (EmulatorHarness.web, nil, "redirect_uri: missing, the sign-in went to"),
        (
            EmulatorHarness.web, "https://example.com/other",
            "redirect_uri: differs from the sign-in's"
        ),
        (
            EmulatorHarness.web, EmulatorHarness.callback + "/",
            "redirect_uri: differs from the sign-in's"
        ),
        (
            EmulatorHarness.app, EmulatorHarness.callback,
            "redirect_uri: sent, but the sign-in had none"
        ),
    ])
    func `a different redirect URI is refused`(_ client: String, _ uri: String?, _ verdict: String)
        async throws
    {
        for error in ["invalid_grant", "invalid_client"] {
            let harness = try await EmulatorHarness(["redirect_mismatch": .string(error)])
            let extra = uri.map { [("redirect_uri", $0)] } ?? []
            let outcome = try await harness.exchange(
                try await harness.code(client), as: client, extra)
            let description = error == "invalid_grant" ? uri.map(Self.redirectMismatch) : nil
            #expect(outcome == Outcome(error, description))
            #expect(try await harness.verdict().hasPrefix(verdict))
        }
    }

    @Test func `a switch removes the description from the refusal of a different redirect URI`()
        async throws
    {
        let harness = try await EmulatorHarness(["redirect_mismatch_description": false])
        let code = try await harness.code(EmulatorHarness.web)
        let wrong = [("redirect_uri", "https://example.com/other")]
        let outcome = try await harness.exchange(code, as: EmulatorHarness.web, wrong)
        #expect(outcome == Outcome("invalid_grant"))
    }

    private static func redirectMismatch(_ uri: String) -> String {
        "redirect_uri mismatch. The code was not issued to \(uri)."
    }

    @Test func `a switch accepts an unneeded redirect URI`() async throws {
        let harness = try await EmulatorHarness(["accept_spare_redirect_uri": true])
        let spare = [("redirect_uri", EmulatorHarness.callback)]
        let native = try await harness.code()
        #expect(try await harness.exchange(native, as: EmulatorHarness.app, spare).status == 200)
        let wrong = [("redirect_uri", "https://example.com/other")]
        let code = try await harness.code(EmulatorHarness.web)
        #expect(
            try await harness.exchange(code, as: EmulatorHarness.web, wrong)
                == Outcome("invalid_grant", Self.redirectMismatch("https://example.com/other")))
    }

    @Test func `a refused code can still be used`() async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code(EmulatorHarness.web)
        #expect(try await harness.exchange(code, as: EmulatorHarness.web).status == 400)
        let redirect = [("redirect_uri", EmulatorHarness.callback)]
        #expect(try await harness.exchange(code, as: EmulatorHarness.web, redirect).status == 200)
    }

    @Test func `of 200 parallel exchanges of one code, exactly one succeeds`() async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
            for _ in 0..<200 { group.addTask { try await harness.exchange(code) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0.status == 200 } == 1)
        let used = Outcome("invalid_grant", "The code has already been used.")
        #expect(outcomes.count { $0 == used } == 199)
    }
}
