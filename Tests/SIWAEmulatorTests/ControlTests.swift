import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct ControlTests {
    @Test(arguments: ControlCase.all) func `a control request gets its response`(_ row: ControlCase)
        async throws
    {
        let response = await (try EmulatorHarness()).emulator.respond(
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

    @Test func `an invalid switch changes no switch`() async throws {
        let harness = try await EmulatorHarness()
        let before = try await harness.control("switches")
        await #expect(throws: (any Error).self) {
            try await harness.control("switches", ["mismatch_full_stop": false, "order": "any"])
        }
        #expect(try await harness.control("switches") == before)
        let after = try await harness.control("switches", ["mismatch_full_stop": false])
        #expect(after["mismatch_full_stop"] == false && after["order"] == "credential_first")
    }

    @Test(
        arguments: [
            ("90s", 90), ("1h30m", 5400), ("-1d", -86_400), ("1500ms", 1), ("0s", 0),
        ] as [(JSON, Int)] + [(600, 600), (-5, -5)])
    func `a clock request moves the clock`(_ offset: JSON, _ seconds: Int) async throws {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control("clock", ["offset": offset])
        let now = EmulatorHarness.start + .seconds(seconds)
        #expect(answer["offset"] == .integer(seconds) && answer["now"] == .string(now.rfc3339))
        let response = await harness.post("/auth/token", [])
        #expect(response.fields["date"].flatMap(NumericDate.init(httpDate:)) == now)
    }

    @Test(arguments: [
        ("1d", "client_secrets minted by the real time expire that much earlier"),
        ("-1d", "client_secrets minted by the real time are issued in the future"), ("5s", nil),
    ])
    func `a clock change that expires the caller's secret says so`(
        _ offset: String, _ warning: String?
    ) async throws {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control("clock", ["offset": .string(offset)])
        #expect((answer["warning"] != nil) == (warning != nil))
        #expect(answer["warning"]?.string?.contains(warning ?? "") != false)
        try await harness.control("switches", ["secret_clock": "real"])
        let real = try await harness.control("clock", ["offset": .string(offset)])
        #expect(real["warning"] == nil)
    }

    @Test func `the log has every check in order, and keeps the latest requests`() async throws {
        let harness = try await EmulatorHarness()
        _ = try await harness.session()
        let checks = try #require(try await harness.record()["checks"]?.elements)
        #expect(checks.allSatisfy { $0["outcome"] == "passed" })
        #expect(
            try checks.map { try $0.text("name") } == [
                "grant_type", "code", "client_id", "client_secret", "client_secret",
                "client_secret", "client_secret", "client_secret", "client_secret",
                "client_secret", "code", "redirect_uri", "code_verifier",
            ])
        var draft = SecretDraft()
        draft.claim("aud", ["https://appleid.apple.com"])
        draft.claim("exp", .integer(EmulatorHarness.start.seconds - 60))
        _ = try await harness.token([
            ("client_secret", try draft.minted(by: harness.key)),
            ("grant_type", "client_credentials"), ("scope", "user.migration"),
        ])
        let refused = try #require(try await harness.record()["checks"]?.elements)
        #expect(
            refused.contains([
                "name": "client_secret", "outcome": "noted", "seen": "aud is an array of one",
            ]))
        #expect(
            refused.last == [
                "name": "client_secret", "outcome": "failed", "seen": "expired 1 minute ago",
            ])
        for _ in 0..<1000 { _ = await harness.post("/auth/token", []) }
        let all = try #require(try await harness.control("requests")["requests"]?.elements)
        #expect(
            all.map { $0["checks"] != nil } == [false, false] + all.dropFirst(2).map { _ in true })
    }

    @Test(arguments: ["", "1", "s", "1x", "-", "1d-1h", "99999999999d", "1.5s"])
    func `an invalid duration is refused`(_ text: String) async throws {
        let harness = try await EmulatorHarness()
        await #expect(throws: (any Error).self) {
            try await harness.control("clock", ["offset": .string(text)])
        }
    }

    @Test func `the log contains everything except secrets`() async throws {
        let harness = try await EmulatorHarness()
        let code = try await harness.code()
        let response = await harness.post(
            "/auth/token",
            [
                ("grant_type", "authorization_code"), ("code", code),
                ("client_id", EmulatorHarness.app),
                ("client_secret", "s3cret"),
            ], fields: [HTTPField("User-Agent", "test/1")])
        let log = try await harness.control("requests")
        let id = try #require(response.fields["X-Apple-I-Request-ID"])
        #expect(log["requests"] == [Self.record(of: code, "s3cret", id)])
        #expect(try log.text("instance").count == 12)
        #expect(try await harness.control("requests", ["path": "/auth/token"]) == log)
        #expect(try await harness.control("requests", ["after": "0", "limit": "1"]) == log)
        #expect(try await harness.control("requests", ["after": "1"])["requests"] == [])
        #expect(try await harness.control("requests", ["limit": "0"])["requests"] == [])
        let others = try await harness.control("requests", ["path": "/auth/revoke"])
        #expect(others["requests"] == [])
        #expect(!log.text.contains(code) && !log.text.contains("s3cret"))
    }

    /// The log's record of an exchange with a client_secret that is not a JWT.
    private static func record(of code: String, _ secret: String, _ id: String) -> JSON {
        [
            "number": 1, "at": "2027-01-15T08:00:00Z", "request_id": .string(id),
            "method": "POST", "path": "/auth/token",
            "parameters": ["grant_type", "code", "client_id", "client_secret"],
            "fingerprints": [
                "code": .string(SecretText(code).fingerprint),
                "client_secret": .string(SecretText(secret).fingerprint),
            ],
            "client_id": .string(EmulatorHarness.app), "grant_type": "authorization_code",
            "user_agent": "test/1", "content_type": .string(Form.contentType), "status": 400,
            "error": "invalid_client",
            "verdict": "client_secret: it has no dot, a JWT has 3 parts between dots",
            "checks": [
                ["name": "grant_type", "outcome": "passed", "seen": "authorization_code"],
                [
                    "name": "code", "outcome": "passed",
                    "seen": "issued to com.example.app 0 seconds ago",
                ], ["name": "client_id", "outcome": "passed", "seen": "com.example.app"],
                [
                    "name": "client_secret", "outcome": "failed",
                    "seen": "it has no dot, a JWT has 3 parts between dots",
                ],
            ],
        ]
    }

    @Test func `a page of the log is at most as long as clients read, and the pages are complete`()
        async throws
    {
        let harness = try await EmulatorHarness()
        // Quotation marks take two bytes in JSON, and combining characters make no new letter. A
        // record has 32 names of at most 200 characters.
        for name in [
            String(repeating: "\"", count: 200), "e" + String(repeating: "\u{301}", count: 200),
        ] {
            let parameters = (0..<32).map { ("\(name)\($0)", "x") }
            for _ in 0..<45 { _ = await harness.post("/auth/token", parameters) }
        }
        var numbers: [Int] = []
        var pages = 0
        while true {
            let page = try await harness.control(
                "requests", ["after": .string("\(numbers.last ?? 0)"), "limit": "100"])
            let records = try #require(page["requests"]?.elements)
            #expect(page.bytes.count < 1 << 20)
            guard !records.isEmpty else { break }
            pages += 1
            numbers += records.compactMap { $0["number"]?.integer }
        }
        #expect(numbers == Array(1...90))
        #expect(pages == 2, "the limit of 100 records did not end a page")
    }

    @Test func `a reset clears everything except the configuration`() async throws {
        let harness = try await EmulatorHarness(["mismatch_full_stop": false])
        let code = try await harness.code()
        try await harness.control("faults", ["status": 503])
        try await harness.control("clock", ["offset": "1d"])
        try await harness.control("keys/revoke", ["key_id": "K1L2M3N4P5"])
        try await harness.control("reset")
        #expect(try await harness.control("requests")["requests"] == [])
        #expect(try await harness.control("switches")["mismatch_full_stop"] == true)
        let expired = Outcome("invalid_grant", "The code has expired or has been revoked.")
        #expect(try await harness.exchange(code) == expired)
        #expect(try await harness.exchange(try await harness.code()).status == 200)
    }
}
