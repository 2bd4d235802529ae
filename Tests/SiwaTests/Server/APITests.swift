import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// The API of the real server over real sockets, with the real emulator behind it.
@Suite(.blocking) struct APITests {
    @Test(arguments: VaultBackend.available)
    func `an account is created at sign-in and revoked at deletion`(_ backend: VaultBackend)
        async throws
    {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        let code = try await fixture.code(of: 1, nonce: "n")
        let exchanged = try await server.api(
            "POST", "/v1/exchange", ["code": .string(code), "nonce": "n"])
        #expect(exchanged.status == 200 && exchanged["Cache-Control"] == "no-store")
        let tokens = try exchanged.json
        let userID = try #require(tokens["user_id"]?.string)
        #expect(userID == fixture.vault.people.userID(1))
        #expect(tokens["stored"] == true && tokens["refresh_token"] == nil)

        let again = try await server.api(
            "POST", "/v1/exchange", ["code": .string(code), "nonce": "n", "reveal": true])
        #expect(try again.json["replayed"] == true)
        let refreshToken = try #require(try again.json["refresh_token"]?.string)
        #expect(try fixture.vault.opened()[fixture.vault.user(1)]?.first?.token == refreshToken)

        let refreshed = try await server.api(
            "POST", "/v1/refresh", ["user_id": .string(userID)])
        #expect(refreshed.status == 200, "\(refreshed)")
        let cached = try await server.api(
            "POST", "/v1/refresh", ["user_id": .string(userID), "max_age": "23h"])
        #expect(try cached.json["cached"] == true && cached.json["active"] == true, "\(cached)")

        let revoked = try await server.api(
            "POST", "/v1/revoke", ["user_id": .string(userID), "wait": 30])
        #expect(revoked.status == 200)
        #expect(
            try revoked.json["tokens"]?.elements?.first?["evidence"]
                == "refresh_accepted_then_rejected")

        let fingerprint = try await Self.checkUser(userID, at: server)
        let lines = try server.log("request")
        #expect(lines.allSatisfy { $0["user_id"]?.string == userID }, "\(lines)")
        Self.checkLog(lines, fixture.vault.user(1).clientID.rawValue, fingerprint)
        #expect(try await server.stop().ending == .exit(0))
    }

    /// What the vault says of the account in the end.
    ///
    /// - Returns: the fingerprint of its token.
    private static func checkUser(
        _ userID: String, at server: ServerProcess
    ) async throws -> JSON {
        let user = try await server.api("GET", "/v1/users/\(userID)").json
        #expect(user["tokens"]?.elements?.map { $0["state"] } == ["revoked"])
        #expect(
            user["history"]?.elements?.map { $0["event"] } == ["revoked", "revoking", "stored"])
        #expect(user["history"]?.elements?.first?["command"] == "siwa-server")
        return try #require(user["tokens"]?.elements?.first?["token_fingerprint"])
    }

    /// What the log says of the account's requests.
    private static func checkLog(_ lines: [JSON], _ client: String, _ fingerprint: JSON) {
        #expect(
            lines.map { $0["path"]?.string } == [
                "/v1/exchange", "/v1/exchange", "/v1/refresh", "/v1/refresh", "/v1/revoke",
            ])
        #expect(lines.prefix(4).allSatisfy { $0["token_fingerprint"] == fingerprint }, "\(lines)")
        #expect(lines.prefix(4).allSatisfy { $0["client_id"]?.string == client })
        #expect(
            lines.map { $0["apple_request_id"] != nil } == [true, true, true, false, false])
    }

    /// Method, path, body; status, code and what the detail mentions.
    private static let invalidRequests: [(String, String, JSON?, Int, String, String)] = [
        ("POST", "/v1/exchange", [:], 400, "invalid_request", "code"),
        ("POST", "/v1/exchange", ["code": 1], 400, "invalid_request", "code"),
        ("POST", "/v1/exchange", ["code": "a b"], 400, "invalid_request", "code"),
        ("POST", "/v1/exchange", ["code": "c", "odd": 1], 400, "invalid_request", "odd"),
        (
            "POST", "/v1/exchange", ["code": "c", "client_id": "com.example.other"], 400,
            "invalid_request", "client_id"
        ),
        (
            "POST", "/v1/exchange", ["code": "c", "id_token": "x"], 400, "invalid_request",
            "id_token"
        ),
        (
            "POST", "/v1/exchange", ["code": "c", "store": "yes"], 400, "invalid_request",
            "store"
        ),
        ("POST", "/v1/refresh", [:], 400, "invalid_request", "user_id"),
        ("POST", "/v1/refresh", ["user_id": "nobody"], 404, "not_found", "nobody"),
        (
            "POST", "/v1/refresh", ["user_id": "a", "token": "r"], 400, "invalid_request",
            "exactly one of 'user_id' and 'token'"
        ),
        ("POST", "/v1/revoke", ["user_id": "nobody"], 404, "not_found", "nobody"),
        (
            "POST", "/v1/revoke", ["user_id": "a", "wait": 31], 400, "invalid_request", "wait"
        ),
        (
            "POST", "/v1/revoke", ["user_id": "nobody", "wait": .number("30.0")], 404,
            "not_found", "nobody"
        ),
        (
            "POST", "/v1/revoke", ["user_id": "a", "wait": .number("0.5")], 400,
            "invalid_request", "wait"
        ),
        (
            "POST", "/v1/revoke", ["user_id": "a", "proof": "odd"], 400, "invalid_request",
            "proof"
        ),
        ("GET", "/v1/revocations/0123", nil, 404, "not_found", "revocation"),
        ("GET", "/v1/events?limit=0", nil, 400, "invalid_request", "limit"),
        ("GET", "/v1/events?after=x", nil, 400, "invalid_request", "after"),
        ("GET", "/v1/events?after=01", nil, 400, "invalid_request", "after"),
        (
            "GET", "/v1/events?after=\(String(repeating: "A", count: 30))", nil, 400,
            "invalid_request", "after"
        ),
        ("GET", "/v1/events?after=30", nil, 410, "cursor_unknown", "history"),
        ("GET", "/v1/events?wait=31", nil, 400, "invalid_request", "wait"),
        ("GET", "/v1/events?wait=1m", nil, 400, "invalid_request", "wait"),
        ("GET", "/v1/events?types=", nil, 400, "invalid_request", "types"),
        ("GET", "/v1/events?types=token.dead,odd", nil, 400, "invalid_request", "types"),
        ("GET", "/v1/events?odd=1", nil, 400, "invalid_request", "odd"),
        ("GET", "/v1/secret?lifetime=2h", nil, 400, "invalid_request", "lifetime"),
        ("GET", "/v1/secret?profile=odd", nil, 400, "invalid_request", "profile"),
        ("GET", "/v1/users/nobody", nil, 404, "not_found", "user"),
        ("GET", "/v1/exchange", nil, 405, "method_not_allowed", "POST"),
        ("GET", "/v1/odd", nil, 404, "not_found", "path"),
    ]

    @Test func `an error names the invalid member`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        for row in Self.invalidRequests {
            let (method, path, body, status, code, mention) = row
            let answer = try await server.api(method, path, body)
            #expect(answer.status == status, "\(path): \(answer)")
            #expect(answer["Content-Type"] == "application/problem+json")
            let problem = try answer.json
            #expect(problem["code"]?.string == code && problem["status"]?.integer == status)
            #expect(problem["detail"]?.string?.contains(mention) == true, "\(problem)")
            #expect(problem["retryable"] == false)
        }
        let text = try await server.call("api", "POST", "/v1/verify", body: "{}")
        #expect(text.status == 415)
        let refused = try await server.call("api", "GET", "/v1/openapi.json", ["Accept: image/png"])
        #expect(refused.status == 406)
        #expect(try await fixture.apple.requests().isEmpty)
    }

    @Test func `each answer of Apple's has its own status`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        func answer(_ fault: JSON) async throws -> HTTPAnswer {
            try await fixture.apple.post("faults", fault)
            return try await server.api(
                "POST", "/v1/exchange", ["code": .string(try await fixture.code(of: 1))])
        }
        let rows: [(JSON, Int, String, Bool)] = [
            (["error": "invalid_grant", "endpoint": "/auth/token"], 422, "invalid_grant", false),
            (["error": "invalid_client", "endpoint": "/auth/token"], 502, "invalid_client", false),
            (
                [
                    "status": 429, "headers": ["Retry-After": "77"],
                    "endpoint": "/auth/token",
                ], 429, "throttled", true
            ),
            (["status": 503, "endpoint": "/auth/token"], 503, "outage", true),
            (["cut": "no_answer", "endpoint": "/auth/token"], 409, "code_may_be_spent", false),
        ]
        for (fault, status, code, isRetryable) in rows {
            let answer = try await answer(fault)
            #expect(answer.status == status, "\(answer)")
            #expect(try answer.json["code"]?.string == code)
            #expect(try answer.json["retryable"] == .boolean(isRetryable))
            #expect((answer["Retry-After"] != nil) == isRetryable)
            if status == 429 { #expect(answer["Retry-After"] == "77") }
        }
        let code = try await fixture.code(of: 1, nonce: "right")
        let wrong = try await server.api(
            "POST", "/v1/exchange", ["code": .string(code), "nonce": "wrong"])
        #expect(wrong.status == 422)
        #expect(try wrong.json["code"] == "identity_token_invalid")
    }

    @Test(arguments: VaultBackend.available)
    func `damage is permanent until an operator acts, an upgrade is temporary`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        _ = try await fixture.vault.store([1, 2])
        let damaged = fixture.vault.people.userID(1)
        try fixture.vault.run(
            "UPDATE vault_token SET stored_at = 9223372036854775807 WHERE user_id = '\(damaged)'")
        for (path, body) in [
            ("/v1/refresh", ["user_id": .string(damaged)]),
            ("/v1/revoke", ["user_id": .string(damaged), "wait": 0]),
        ] as [(String, JSON)] {
            let answer = try await server.api("POST", path, body)
            let problem = try answer.json
            #expect(answer.status == 500 && answer["Retry-After"] == nil, "\(answer)")
            #expect(problem["code"] == "vault" && problem["retryable"] == false, "\(problem)")
            #expect(problem["detail"]?.string?.contains("stored_at is out of range") == true)
            #expect(problem["hints"]?.elements?.isEmpty == false)
            let line = try server.log("request").last
            #expect(line?["level"] == "error" && line?["code"] == "vault", "\(line ?? .null)")
            let count = try await server.metric(
                "siwa_http_requests_total{listener=\"api\",path=\"\(path)\",status=\"500\"}")
            #expect(count == 1)
        }
        let fault = "A record of the vault could not be read at"
        #expect(try await server.api("GET", "/v1/status").body.contains(fault))
        // Another replica, which is newer, has updated the tables.
        try fixture.vault.run("UPDATE vault_schema SET version = 99")
        let other = try await server.api(
            "POST", "/v1/refresh", ["user_id": .string(fixture.vault.people.userID(2))])
        #expect(other.status == 503 && other["Retry-After"] != nil, "\(other)")
        #expect(try other.json["retryable"] == true)
    }

    @Test func `a refused client gets the same response for every use of a code`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        var problems: [JSON] = []
        for path in ["/v1/exchange", "/v1/revoke"] {
            try await fixture.apple.post(
                "faults", ["endpoint": "/auth/token", "error": "invalid_client"])
            let answer = try await server.api(
                "POST", path, ["code": .string(try await fixture.code(of: 1))])
            #expect(answer.status == 502, "\(answer)")
            problems.append(try answer.json)
        }
        for member in ["code", "detail", "hints", "exit_code", "retryable"] {
            #expect(problems[0][member] == problems[1][member], "\(member): \(problems)")
        }
        #expect(problems[0]["hints"]?.elements?.isEmpty == false)
        #expect(try await server.metric("siwa_revocations{state=\"dead\"}") == 1)
        #expect(try await server.metric("siwa_revocations_given_up") == 1)
    }

    @Test func `over TCP, every call needs a token with its scope`() async throws {
        let fixture = try await ServerFixture()
        try fixture.configure(
            fixture.listeners.filter { $0.name != "api" }
                + [.init("api", ["listen": "127.0.0.1:0"])])
        let server = try await fixture.serve()
        func token(_ name: String, _ scopes: String...) async throws -> String {
            let arguments = scopes.flatMap { ["--scope", $0] }
            let result = try await fixture.run(["token", "add", name] + arguments)
            try #require(result.exitCode == 0, "\(result)")
            return result.output.trimmingSuffix("\n")
        }
        let (reader, exchanger) = (
            try await token("reader", "read"), try await token("exchanger", "exchange")
        )
        func status(_ token: String?, _ path: String, _ body: JSON? = nil) async throws -> Int? {
            let fields = token.map { ["Authorization: Bearer \($0)"] } ?? []
            return try await server.api(body == nil ? "GET" : "POST", path, body, fields).status
        }
        #expect(try await status(nil, "/v1/events") == 401)
        #expect(try await status("siwa_wrong", "/v1/events") == 401)
        #expect(try await status(reader, "/v1/events") == 200)
        #expect(try await status(reader, "/v1/openapi.json") == 200)
        #expect(try await status(reader, "/v1/revocations/x") == 404)
        #expect(try await status(reader, "/v1/revoke", ["user_id": "a"]) == 403)
        #expect(try await status(exchanger, "/v1/events") == 403)
        let code = try await fixture.code(of: 1)
        let revealing: JSON = ["code": .string(code), "reveal": true]
        #expect(try await status(exchanger, "/v1/exchange", revealing) == 403)
        #expect(try await status(exchanger, "/v1/exchange", ["code": .string(code)]) == 200)
        #expect(try await fixture.run(["token", "remove", "reader"]).exitCode == 0)
        try await eventually("the removed token does not work any more") {
            try await status(reader, "/v1/events") == 401
        }
    }

    @Test func `a token of a new key is soon accepted, even while tokens invent key ids`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        func isValid(_ token: String) async throws -> Bool? {
            try await server.api("POST", "/v1/verify", ["id_token": .string(token)])
                .json["valid"]?.boolean
        }
        func fresh() async throws -> String {
            let signIn = try await fixture.apple.post("codes", ["client_id": "com.example.app"])
            return try #require(signIn["id_token"]?.string)
        }
        let genuine = try await fresh()
        #expect(try await isValid(genuine) == true)
        func invented(_ number: Int) -> String {
            let header = #"{"kid":"INVENTED\#(number)","alg":"RS256"}"#
            let rest = genuine.drop { $0 != "." }
            return Base64URL.encode(Array(header.utf8)) + rest
        }
        #expect(try await isValid(invented(0)) == false)
        try await fixture.apple.post("keys/rotate")
        let new = try await fresh()
        // The pause after the fetch for the invented one: ten seconds, not a minute.
        var number = 0
        try await eventually("the new key is fetched", pause: .seconds(1)) {
            number += 1
            // During the pause the answer is that the key is not known yet.
            #expect(try await isValid(invented(number)) != true)
            return try await isValid(new) == true
        }
        #expect(number <= 30, "another forgery each second, and the pause is not prolonged")
    }

    @Test func `identity tokens are verified`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let signIn = try await fixture.apple.post(
            "codes",
            [
                "client_id": "com.example.app", "nonce": "n",
                "user": .string(fixture.vault.people.name(1)),
            ])
        let (token, code) = (try #require(signIn["id_token"]), try #require(signIn["code"]))
        let valid = try await server.api(
            "POST", "/v1/verify", ["id_token": token, "nonce": "n", "code": code])
        #expect(valid.status == 200)
        #expect(try valid.json["valid"] == true)
        #expect(
            try valid.json["claims"]?["sub"]?.string == fixture.vault.people.userID(1))
        let wrong = try await server.api(
            "POST", "/v1/verify", ["id_token": token, "nonce": "other"])
        #expect(wrong.status == 200)
        #expect(try wrong.json["valid"] == false)
        let nothing = try await server.api("POST", "/v1/verify", ["id_token": "x"])
        #expect(nothing.status == 200)
        #expect(try nothing.json["valid"] == false)
        let chosen = try await server.api(
            "POST", "/v1/exchange", ["code": code, "id_token": token])
        #expect(try chosen.json["stored"] == true)
        let foreign = try await server.api(
            "POST", "/v1/exchange",
            ["code": .string(try await fixture.code(of: 2)), "id_token": token])
        #expect(foreign.status == 400)
        #expect(try foreign.json["detail"]?.string?.contains("c_hash") == true)
    }

    @Test func `secrets are minted, cached for a while, and have an entity tag`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let first = try await server.api("GET", "/v1/secret?lifetime=30m")
        #expect(first["Cache-Control"]?.hasPrefix("private, max-age=") == true)
        #expect(try first.json["lifetime_seconds"] == 1800)
        let text = try await server.call(
            "api", "GET", "/v1/secret?lifetime=30m", ["Accept: text/plain"])
        #expect(try text.body == first.json["client_secret"]?.string)
        let tag = try #require(first["ETag"])
        let known = try await server.call(
            "api", "GET", "/v1/secret?lifetime=30m", ["If-None-Match: \(tag)"])
        #expect(known.status == 304 && known.body.isEmpty)
        #expect(try await server.api("GET", "/v1/secret").json["lifetime_seconds"] == 300)
        _ = try await server.stop()
        let strict = try await fixture.serve(
            fixture.listeners + [.init("max_secret_lifetime", "1m")])
        #expect(try await strict.api("GET", "/v1/secret").json["lifetime_seconds"] == 60)
        #expect(try await strict.api("GET", "/v1/secret?lifetime=2m").status == 400)
    }

    @Test(arguments: VaultBackend.available)
    func `events are read with a cursor`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        for user in 1...3 {
            let statuses = try await fixture.notify(
                "email-disabled", of: user, at: try server.notificationURL)
            #expect(statuses == ["200": 1])
        }
        var (seen, cursor): ([String], String?) = ([], nil)
        while true {
            let after = cursor.map { "&after=\($0)" } ?? ""
            let page = try await server.api("GET", "/v1/events?limit=2\(after)").json
            let events = try #require(page["events"]?.elements)
            if events.isEmpty { break }
            seen += events.compactMap { $0["user_id"]?.string }
            #expect(events.allSatisfy { $0["jti"] != nil && $0["received_at"] != nil })
            cursor = try #require(page["cursor"]?.string)
        }
        #expect(seen == (1...3).map { fixture.vault.people.userID($0) })
    }

    @Test func `the API description has every route`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let description = try await server.api("GET", "/v1/openapi.json").json
        #expect(description["openapi"] == "3.1.0")
        #expect(
            Set(description["paths"]?.members?.map(\.name) ?? []) == [
                "/", "/v1/exchange", "/v1/refresh", "/v1/revoke", "/v1/revocations",
                "/v1/revocations/{id}", "/v1/status",
                "/v1/events", "/v1/verify", "/v1/secret", "/v1/users/{user_id}",
                "/v1/openapi.json",
            ])
    }
}

extension ServerProcess {
    /// Calls the API.
    func api(
        _ method: String, _ path: String, _ body: JSON? = nil, _ fields: [String] = []
    ) async throws -> HTTPAnswer {
        try await call(
            "api", method, path,
            fields + (body == nil ? [] : ["Content-Type: application/json"]),
            body: body?.text ?? "")
    }
}

extension HTTPAnswer {
    /// The body, read as JSON.
    var json: JSON { get throws { try JSON(text: body) } }
}

extension ServerFixture {
    /// A code of a sign-in of user `number`.
    func code(of number: Int, nonce: String? = nil) async throws -> String {
        try await vault.apple.code(
            [.init("user", .string(vault.people.name(number)))]
                + (nonce.map { [.init("nonce", .string($0))] } ?? []))
    }

    /// Runs `siwa-server` to its end.
    func run(_ arguments: [String]) async throws -> ProgramResult {
        try await Executable.product("siwa-server").run(
            Executable.Call(arguments, environment: environment, limit: .seconds(120)))
    }
}

extension String {
    /// Without `suffix` at its end.
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
