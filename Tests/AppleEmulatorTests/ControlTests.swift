import AppleEmulator
import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

@Suite struct ControlTests {
    @Test(arguments: ControlCase.all) func answers(_ row: ControlCase) async throws {
        let response = await (try Stand()).emulator.respond(
            to: EmulatorRequest(
                method: row.method, target: "/emulator/" + row.path, fields: row.fields,
                body: Array(row.body.utf8))
        ).response
        #expect(response.status == row.status)
        let body = try JSON(response.body)
        let told = body["error_description"]?.string ?? body.text
        #expect(told.contains(row.text), "\(told)")
        #expect((body["error"] == nil) == (row.status == 200))
    }

    @Test func `a wrong switch turns none`() async throws {
        let stand = try await Stand()
        let before = try await stand.control("switches")
        await #expect(throws: (any Error).self) {
            try await stand.control("switches", ["mismatch_full_stop": true, "order": "any"])
        }
        #expect(try await stand.control("switches") == before)
        let after = try await stand.control("switches", ["mismatch_full_stop": true])
        #expect(after["mismatch_full_stop"] == true && after["order"] == "credential_first")
    }

    @Test(
        arguments: [
            ("90s", 90), ("1h30m", 5400), ("-1d", -86_400), ("1500ms", 1), ("0s", 0),
        ] as [(JSON, Int)] + [(600, 600), (-5, -5)])
    func `the clock moves`(_ offset: JSON, _ seconds: Int) async throws {
        let stand = try await Stand()
        let answer = try await stand.control("clock", ["offset": offset])
        let now = Stand.start + .seconds(seconds)
        #expect(answer["offset"] == .integer(seconds) && answer["now"] == .string(now.rfc3339))
        let response = await stand.post("/auth/token", [])
        #expect(response.fields["date"].flatMap(NumericDate.init(httpDate:)) == now)
    }

    @Test(arguments: [
        ("1d", "client_secrets minted by the real time expire that much earlier"),
        ("-1d", "client_secrets minted by the real time are issued in the future"), ("5s", nil),
    ])
    func `a clock that expires the caller's secret says so`(
        _ offset: String, _ warning: String?
    ) async throws {
        let stand = try await Stand()
        let answer = try await stand.control("clock", ["offset": .string(offset)])
        #expect((answer["warning"] != nil) == (warning != nil))
        #expect(answer["warning"]?.string?.contains(warning ?? "") != false)
        try await stand.control("switches", ["secret_clock": "real"])
        let real = try await stand.control("clock", ["offset": .string(offset)])
        #expect(real["warning"] == nil)
    }

    @Test func `the log has every check in order, and keeps those of the latest`() async throws {
        let stand = try await Stand()
        _ = try await stand.session()
        let checks = try #require(try await stand.record()["checks"]?.elements)
        #expect(checks.allSatisfy { $0["outcome"] == "passed" })
        #expect(
            try checks.map { try $0.text("name") } == [
                "grant_type", "code", "client_id", "client_secret", "client_secret",
                "client_secret", "client_secret", "client_secret", "client_secret",
                "client_secret", "code", "redirect_uri", "code_verifier",
            ])
        var draft = SecretDraft()
        draft.claim("aud", ["https://appleid.apple.com"])
        draft.claim("exp", .integer(Stand.start.seconds - 60))
        _ = try await stand.token([
            ("client_secret", try draft.minted(by: stand.key)),
            ("grant_type", "client_credentials"), ("scope", "user.migration"),
        ])
        let refused = try #require(try await stand.record()["checks"]?.elements)
        #expect(
            refused.contains([
                "name": "client_secret", "outcome": "noted", "seen": "aud is an array of one",
            ]))
        #expect(
            refused.last == [
                "name": "client_secret", "outcome": "failed", "seen": "expired 60 s ago",
            ])
        for _ in 0..<1000 { _ = await stand.post("/auth/token", []) }
        let all = try #require(try await stand.control("requests")["requests"]?.elements)
        #expect(
            all.map { $0["checks"] != nil } == [false, false] + all.dropFirst(2).map { _ in true })
    }

    @Test(arguments: ["", "1", "s", "1x", "-", "1d-1h", "99999999999d", "1.5s"])
    func `no duration`(_ text: String) async throws {
        let stand = try await Stand()
        await #expect(throws: (any Error).self) {
            try await stand.control("clock", ["offset": .string(text)])
        }
    }

    @Test func `the log shows everything but secrets`() async throws {
        let stand = try await Stand()
        let code = try await stand.code()
        let response = await stand.post(
            "/auth/token",
            [
                ("grant_type", "authorization_code"), ("code", code), ("client_id", Stand.app),
                ("client_secret", "s3cret"),
            ], fields: [HTTPField("User-Agent", "test/1")])
        let log = try await stand.control("requests")
        let expected: JSON = [
            "number": 1, "at": "2027-01-15T08:00:00Z",
            "request_id": .string(try #require(response.fields["X-Apple-I-Request-ID"])),
            "method": "POST", "path": "/auth/token",
            "parameters": ["grant_type", "code", "client_id", "client_secret"],
            "fingerprints": [
                "code": .string(SecretText(code).fingerprint),
                "client_secret": .string(SecretText("s3cret").fingerprint),
            ],
            "client_id": .string(Stand.app), "grant_type": "authorization_code",
            "user_agent": "test/1", "content_type": .string(Form.contentType), "status": 400,
            "error": "invalid_client",
            "verdict": "client_secret: it has no dot, a JWT has 3 parts between dots",
            "checks": [
                [
                    "name": "grant_type", "outcome": "passed", "seen": "authorization_code",
                ],
                [
                    "name": "code", "outcome": "passed",
                    "seen": "issued to com.example.app 0 s ago",
                ], ["name": "client_id", "outcome": "passed", "seen": "com.example.app"],
                [
                    "name": "client_secret", "outcome": "failed",
                    "seen": "it has no dot, a JWT has 3 parts between dots",
                ],
            ],
        ]
        #expect(log == ["requests": [expected]])
        #expect(try await stand.control("requests", ["path": "/auth/token"]) == log)
        #expect(try await stand.control("requests", ["after": "0", "limit": "1"]) == log)
        #expect(try await stand.control("requests", ["after": "1"]) == ["requests": []])
        #expect(try await stand.control("requests", ["limit": "0"]) == ["requests": []])
        let others = try await stand.control("requests", ["path": "/auth/revoke"])
        #expect(others == ["requests": []])
        #expect(!log.text.contains(code) && !log.text.contains("s3cret"))
    }

    @Test func `a reset forgets everything but the configuration`() async throws {
        let stand = try await Stand(["mismatch_full_stop": true])
        let code = try await stand.code()
        try await stand.control("faults", ["status": 503])
        try await stand.control("clock", ["offset": "1d"])
        try await stand.control("keys/revoke", ["key_id": "K1L2M3N4P5"])
        try await stand.control("reset")
        #expect(try await stand.control("requests") == ["requests": []])
        #expect(try await stand.control("switches")["mismatch_full_stop"] == false)
        let expired = Outcome("invalid_grant", "The code has expired or has been revoked.")
        #expect(try await stand.exchange(code) == expired)
        #expect(try await stand.exchange(try await stand.code()).status == 200)
    }
}
