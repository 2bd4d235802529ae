import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

@Suite struct CodeGrantTests {
    private static let expired = Outcome(
        "invalid_grant", "The code has expired or has been revoked.")

    @Test func `answers with the recorded members in the recorded order`() async throws {
        let stand = try await Stand()
        let response = await stand.post(
            "/auth/token",
            [
                ("client_id", Stand.app), ("client_secret", try stand.secret()),
                ("grant_type", "authorization_code"), ("code", try await stand.code()),
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

    @Test func `codes and tokens have the recorded shape and share a shard`() async throws {
        let stand = try await Stand()
        let code = try await stand.code()
        let answer = try await stand.exchange(code)
        let texts = [
            code, try answer.text("access_token"), try answer.text("refresh_token"),
        ]
        let shape = /([car])[0-9a-f]{32}\.0\.([m-np-qrstu-z]{3,5})\.[A-Za-z0-9_-]{22}/
        let matches = texts.map { $0.wholeMatch(of: shape) }
        #expect(matches.map { $0?.output.1 } == ["c", "a", "r"])
        #expect(Set(matches.map { $0?.output.2 }).count == 1)
    }

    @Test(arguments: ["test code", "eyJhbGciOiJSUzI1NiJ9.e30.AA", "c0123.0.rsy.x"])
    func `an unknown code`(_ code: String) async throws {
        let stand = try await Stand()
        #expect(try await stand.exchange(code) == Self.expired)
    }

    @Test func `a code works once`() async throws {
        let stand = try await Stand()
        let code = try await stand.code()
        #expect(try await stand.exchange(code).status == 200)
        #expect(
            try await stand.exchange(code)
                == Outcome("invalid_grant", "The code has already been used."))
    }

    @Test func `a code lives 300 seconds`() async throws {
        let stand = try await Stand()
        let (first, second) = (try await stand.code(), try await stand.code())
        try await stand.control("clock", ["offset": 299])
        #expect(try await stand.exchange(first).status == 200)
        try await stand.control("clock", ["offset": "5m"])
        let draft = SecretDraft(at: Stand.start + .seconds(300))
        let late = [
            ("client_secret", try draft.minted(by: stand.key)),
            ("grant_type", "authorization_code"), ("code", second),
        ]
        #expect(try await stand.token(late) == Self.expired)
        #expect(try await stand.verdict() == "code: 300 s old")
    }

    @Test(arguments: [("", false), (".", true)])
    func `a code of another client`(_ stop: String, _ isSet: Bool) async throws {
        let stand = try await Stand(["mismatch_full_stop": .boolean(isSet)])
        let outcome = try await stand.exchange(try await stand.code(), as: Stand.web)
        let text = "client_id mismatch. The code was not issued to com.example.web\(stop)"
        #expect(outcome == Outcome("invalid_grant", text))
    }

    @Test(arguments: [
        (Stand.web, nil, "redirect_uri: missing, the sign-in went to"),
        (Stand.web, "https://example.com/other", "redirect_uri: differs from the sign-in's"),
        (Stand.web, Stand.callback + "/", "redirect_uri: differs from the sign-in's"),
        (Stand.app, Stand.callback, "redirect_uri: sent, but the sign-in had none"),
    ])
    func `a wrong redirect`(_ client: String, _ uri: String?, _ verdict: String) async throws {
        for error in ["invalid_grant", "invalid_client"] {
            let stand = try await Stand(["redirect_mismatch": .string(error)])
            let extra = uri.map { [("redirect_uri", $0)] } ?? []
            let outcome = try await stand.exchange(try await stand.code(client), as: client, extra)
            #expect(outcome == Outcome(error))
            #expect(try await stand.verdict().hasPrefix(verdict))
        }
    }

    @Test func `a spare redirect passes when the switch says so`() async throws {
        let stand = try await Stand(["accept_spare_redirect_uri": true])
        let spare = [("redirect_uri", Stand.callback)]
        let native = try await stand.code()
        #expect(try await stand.exchange(native, as: Stand.app, spare).status == 200)
        let wrong = [("redirect_uri", "https://example.com/other")]
        let code = try await stand.code(Stand.web)
        #expect(try await stand.exchange(code, as: Stand.web, wrong) == Outcome("invalid_grant"))
    }

    @Test func `a refused code is not used up`() async throws {
        let stand = try await Stand()
        let code = try await stand.code(Stand.web)
        #expect(try await stand.exchange(code, as: Stand.web).status == 400)
        let redirect = [("redirect_uri", Stand.callback)]
        #expect(try await stand.exchange(code, as: Stand.web, redirect).status == 200)
    }

    @Test func `of 200 parallel exchanges of one code, one succeeds`() async throws {
        let stand = try await Stand()
        let code = try await stand.code()
        let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
            for _ in 0..<200 { group.addTask { try await stand.exchange(code) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0.status == 200 } == 1)
        let used = Outcome("invalid_grant", "The code has already been used.")
        #expect(outcomes.count { $0 == used } == 199)
    }
}
