import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The console as people see it and use it, without a browser.
@Suite struct ConsoleTests {
    @Test func `a refused request shows every check, the failed one last, and siwa's finding`()
        async throws
    {
        let harness = try await EmulatorHarness()
        var draft = SecretDraft()
        draft.claim("exp", .integer(EmulatorHarness.start.seconds - 90))
        _ = try await harness.exchange(
            try await harness.code(), [("client_secret", try draft.minted(by: harness.key))])
        #expect(
            await harness.look().text.contains("client_secret: expired 1 minute 30 seconds ago"))
        let detail = await harness.look("/emulator/requests/1").text
        let marks = detail.matches(of: /<li class="(passed|failed|noted)">/).map { $0.output.1 }
        #expect(marks.count > 5 && marks.last == "failed")
        #expect(marks.dropLast().allSatisfy { $0 == "passed" })
        #expect(detail.contains("<span>expired 1 minute 30 seconds ago</span>"), "\(detail)")
        #expect(detail.contains(#"<li class="finding error">"#))
        #expect(detail.contains("1 minute 30 seconds ago"))
        #expect(detail.contains(#"--data-urlencode &quot;client_secret=$CLIENT_SECRET&quot;"#))
    }

    @Test func `an accepted request has neither failed checks nor findings`() async throws {
        let harness = try await EmulatorHarness()
        _ = try await harness.session()
        let detail = await harness.look("/emulator/requests/1").text
        #expect(detail.contains(#"<li class="passed">"#))
        #expect(!detail.contains(#"<li class="failed">"#) && !detail.contains("finding"))
    }

    @Test func `no page contains a secret`() async throws {
        let harness = try await EmulatorHarness()
        let session = try await harness.session()
        let refreshed = try await harness.refresh(try session.text("refresh_token"))
        let secret = try harness.secret()
        let code = try await harness.code()
        _ = try await harness.exchange(
            code, [("client_secret", secret), ("code_verifier", "v-e-r")])
        _ = await harness.post("/auth/token", [("password", "hunter2"), ("code", code)])
        let pages = await [
            harness.look(), harness.look("/emulator?open=3"), harness.look("/emulator/requests/1"),
            harness.look("/emulator/requests/2"), harness.look("/emulator/requests/3"),
            harness.look("/emulator/requests/4"),
        ].map(\.text)
        let secrets = [
            secret, String(secret.split(separator: ".")[2]), code, "v-e-r", "hunter2",
            try session.text("access_token"), try session.text("refresh_token"),
            try session.text("id_token"), try refreshed.text("access_token"),
        ]
        for page in pages {
            for secret in secrets { #expect(!page.contains(secret), "\(secret)") }
        }
        #expect(pages.contains { $0.contains(SecretText(code).fingerprint) })
    }

    @Test(arguments: [
        ("faults", [("json", #"{"status":503}"#), ("endpoint", "/auth/keys")]),
        ("faults", [("status:integer", "503"), ("count:integer", "1")]),
    ])
    func `a fault set by a form changes only the next response`(
        _ control: String, _ fields: [(String, String)]
    ) async throws {
        let harness = try await EmulatorHarness()
        let answer = try await harness.send(control, fields)
        #expect(try JSON(answer.body) == ["queued": 1])
        #expect(await harness.get("/auth/keys").status == 503)
        #expect(await harness.get("/auth/keys").status == 200)
    }

    @Test func `without a script, a form redirects to the panel that shows its effect`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let answer = try await harness.send(
            "faults", [("json", #"{"status":503}"#)], accept: "text/html")
        #expect(answer.status == 303 && answer.fields["location"] == "/emulator#faults")
        #expect(await harness.look().text.contains("answered 503 instead"))
        let wrong = try await harness.send("faults", [("endpoint", "/x")], accept: "text/html")
        #expect(wrong.status == 400)
        #expect(wrong.text.contains("&#39;endpoint&#39; must be one of"), "\(wrong.text)")
        let code = try await harness.send(
            "codes", [("client_id", EmulatorHarness.app)], accept: "text/html")
        #expect(code.status == 200 && code.text.contains("<dt>code</dt>"))
    }

    @Test func `switches that differ from their defaults are listed, and can be set back`()
        async throws
    {
        let harness = try await EmulatorHarness()
        #expect(await harness.look().text.contains("Every switch is at its default."))
        let choice = #"{"order":"client_first"}"#
        let set = try await harness.send("switches", [("json", choice)], accept: "text/html")
        #expect(set.status == 303 && set.fields["location"] == "/emulator#switches")
        _ = try await harness.send("switches", [("code_lifetime", "10m")])
        let page = await harness.look().text
        #expect(page.contains(#"<span class="mono">order</span> <b>client_first</b>"#))
        #expect(page.contains(#"<span class="mono">code_lifetime</span> <b>600</b>"#))
        #expect(page.contains("Back to credential_first") && page.contains("Back to 300"))
        _ = try await harness.send("switches", [("json", #"{"order":"credential_first"}"#)])
        _ = try await harness.send("switches", [("json", #"{"code_lifetime":300}"#)])
        #expect(await harness.look().text.contains("Every switch is at its default."))
    }

    @Test func `every value of every switch can be chosen`() async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.look().text
        let switches = try #require(try await harness.control("switches").members)
        for entry in switches {
            let values = page.matches(of: /<option value="([^"]*)"/).map(\.output.1)
                .filter { $0.hasPrefix("{&quot;\(entry.name)&quot;:") }
            if values.isEmpty {
                #expect(page.contains(#"<input name="\#(entry.name)""#), "\(entry.name)")
            } else {
                #expect(values.count >= 2, "\(entry.name)")
            }
            for value in values {
                let body = String(value).replacing("&quot;", with: "\"")
                let answer = try await harness.send("switches", [("json", body)])
                #expect(answer.status == 200, "\(body)")
            }
        }
    }

    @Test(arguments: [
        ("KEYS", 2), ("auth/token", 1), ("r-nowhere", 0), ("curl/8", 1), ("invalid_grant", 1),
        ("", 4),
    ])
    func `a search shows the requests that contain a text, in capital letters or not`(
        _ text: String, _ count: Int
    ) async throws {
        let harness = try await EmulatorHarness()
        _ = await harness.get("/auth/keys")
        _ = await harness.emulator.respond(
            to: EmulatorRequest(
                method: "GET", target: "/auth/keys", fields: [HTTPField("User-Agent", "curl/8.5")]))
        _ = await harness.get("/.well-known/openid-configuration")
        _ = try await harness.refresh("r-nowhere")
        let page = await harness.look("/emulator?find=\(text)").text
        #expect(page.matches(of: /<li id="request-/).count == count)
        if count == 0 { #expect(page.contains("No request contains “\(text)”")) }
        #expect(page.contains(#"name="find""#) && page.contains(#"value="\#(text)""#))
    }

    @Test func `a search keeps what it found when a request is opened without a script`()
        async throws
    {
        let harness = try await EmulatorHarness()
        for _ in 1...2 { _ = await harness.get("/auth/keys") }
        let page = await harness.look("/emulator?find=keys&open=2").text
        #expect(page.contains(#"href="/emulator?open=1&amp;find=keys#request-1""#))
        #expect(page.contains(#"class="detail""#))
    }

    @Test func `the clock can be moved forward in steps and reset`() async throws {
        let harness = try await EmulatorHarness()
        for (fields, hours) in [
            (#"{"forward":"1h"}"#, 1), (#"{"forward":"1d"}"#, 25), (#"{"offset":0}"#, 0),
        ] {
            let answer = try await harness.send("clock", [("json", fields)])
            #expect(try JSON(answer.body)["offset"] == .integer(hours * 3600))
        }
        try await harness.control("clock", ["forward": "1d"])
        #expect(await harness.look().text.contains("1 day ahead"))
    }

    @Test func `consents and live sessions are listed, and can be ended by a click`() async throws {
        let harness = try await EmulatorHarness()
        let session = try await harness.session()
        #expect(await harness.look().text.contains("knows the address · 1 live session<"))
        let event = #"{"type":"consent-revoked","user":"alice","client_id":"com.example.app"}"#
        let answer = try await harness.send("notifications", [("json", event)])
        let payload = try JSON(answer.body).text("payload")
        let claims = try await harness.verified(payload).payload
        #expect(claims["events"]?.string?.contains("consent-revoked") == true)
        #expect(try await harness.refresh(try session.text("refresh_token")).status == 400)
        let page = await harness.look().text
        #expect(page.contains(#"<span class="badge">revoked</span>"#))
        #expect(page.contains("<b>consent-revoked</b>"))
    }

    @Test func `mail to an existing relay address can be stopped by a form that names the address`()
        async throws
    {
        let harness = try await EmulatorHarness()
        // Only bob's address is a relay.
        let before = await harness.look().text.matches(of: /aria-label="Stop relay mail ([^"]*)"/)
        #expect(before.map(\.output.1) == ["to qwertz1234@privaterelay.appleid.com of bob"])
        _ = try await harness.callback(email: "hide", ["response_type": "code id_token"])
        let page = await harness.look().text
        #expect(page.matches(of: /Stop relay mail</).count == 2)
        let alice = /Stop relay mail to [a-z0-9]{10}@privaterelay\.appleid\.com of alice/
        #expect(page.firstMatch(of: alice) != nil)
    }

    @Test func `the accessible name of every button contains its visible text`() async throws {
        let harness = try await EmulatorHarness()
        _ = try await harness.callback(email: "hide", ["response_type": "code id_token"])
        try await harness.control("faults", ["status": 503])
        try await harness.control("notifications", ["type": "email-disabled"])
        let page = await harness.look().text
        let buttons = page.matches(of: /<button [^>]*aria-label="([^"]*)"[^>]*>([^<]*)</)
        #expect(buttons.count > 8)
        for button in buttons {
            #expect(button.output.1.hasPrefix(button.output.2), "\(button.output.1)")
        }
    }

    @Test func `the sign-in page's form is recorded with its client`() async throws {
        let harness = try await EmulatorHarness()
        _ = try await harness.callback()
        let record = try await harness.record()
        #expect(record["path"] == "/auth/authorize/consent")
        #expect(record["client_id"] == .string(EmulatorHarness.web))
    }

    @Test func `a user that is added can sign in`() async throws {
        let harness = try await EmulatorHarness()
        let answer = try await harness.send(
            "users",
            [
                ("name", "dora"), ("email", "dora@privaterelay.appleid.com"),
                ("is_private_email:boolean", "true"), ("last_name", ""),
            ])
        #expect(await harness.look().text.contains(#"<option value="dora">"#))
        let sub = try #require(try JSON(answer.body)["user"]?["sub"])
        let session = try await harness.session(EmulatorHarness.app, [JSON.Member("user", "dora")])
        let claims = try await harness.verified(session["id_token"]?.string).payload
        #expect(claims["sub"] == sub && claims["is_private_email"] == true)
        for (name, told) in [
            ("dora", "exists already"), ("", "'name' is missing"), ("a b", "1 to 100"),
        ] {
            let again = try await harness.send("users", [("name", name)])
            #expect(again.status == 400 && again.text.contains(told), "\(again.text)")
        }
        let taken = try await harness.send(
            "users", [("name", "eve"), ("sub", try #require(sub.string))])
        #expect(taken.text.contains("another user's sub"))
    }

    @Test func `a fault can be removed`() async throws {
        let harness = try await EmulatorHarness()
        for _ in 0..<3 { try await harness.control("faults", ["status": 503]) }
        #expect(try await harness.control("faults/clear", ["number": 2]) == ["queued": 2])
        #expect(try await harness.control("faults/clear") == ["queued": 0])
        #expect(await harness.get("/auth/keys").status == 200)
    }

    @Test func `successful and failed changes are logged without secrets`() async throws {
        let harness = try await EmulatorHarness()
        try await harness.control(
            "codes", ["client_id": .string(EmulatorHarness.app), "nonce": "n-o-n-c-e"])
        _ = try await harness.send("clock", [("forward", "x")])
        let page = await harness.look().text
        #expect(page.contains("<b>codes</b>") && page.contains("by a program"))
        #expect(page.contains("forward x") && page.contains("&#39;forward&#39; must be"))
        #expect(!page.contains("n-o-n-c-e"))
    }

    @Test func `the path / redirects to the console, and is Apple's page under Apple's host name`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let home = await harness.look("/")
        #expect(home.status == 303 && home.fields["location"] == "/emulator")
        #expect(await harness.get("/").status == 404)
        #expect(await harness.get("/emulator").status == 403)
    }

    @Test func `the page's policy allows only its own script and style`() async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.look()
        let policy = try #require(page.fields["content-security-policy"])
        let nonce = try #require(page.text.firstMatch(of: /defer|nonce="([^"]*)"/)?.output.1)
        #expect(
            policy
                == "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
                + "img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'")
        #expect(await harness.look().fields["content-security-policy"] != policy)
        #expect(page.text.matches(of: /<script/).count == 1 && !page.text.contains(" on" + "click"))
        #expect(page.fields["x-frame-options"] == "DENY")
        #expect(page.fields["cache-control"] == "no-store")
        for name in ["console.css", "console.js"] {
            let asset = await harness.look("/emulator/\(name)")
            #expect(asset.status == 200 && asset.fields["x-content-type-options"] == "nosniff")
            #expect(!asset.text.contains("http") && !asset.text.contains("eval("))
        }
    }
}

/// `GET /emulator/requests?wait=`, and notifications sent again.
@Suite struct ConsoleWaitTests {
    @Test func `a long poll of the log ends with the next request`() async throws {
        let harness = try await EmulatorHarness()
        let waiting = Task { try await harness.control("requests", ["wait": "60s", "after": "0"]) }
        while await harness.get("/auth/keys").status != 200 {}
        let records = try #require(try await waiting.value["requests"]?.elements)
        #expect(records.first?["path"] == "/auth/keys")
        #expect(
            try await harness.control("requests", ["wait": "1ms", "after": "1"])["requests"] == [])
    }

    @Test func `a log position from before a reset restarts the log`() async throws {
        let harness = try await EmulatorHarness()
        for _ in 0..<3 { _ = await harness.get("/auth/keys") }
        try await harness.control("reset")
        _ = await harness.get("/auth/keys")
        let answer = try await harness.control("requests", ["after": "3"])
        #expect(answer["requests"]?.elements?.count == 1)
    }

    @Test func `a notification can be sent again byte for byte, twice at once, and late`()
        async throws
    {
        let receiver = Receiver(500, 500, 500)
        let harness = try await EmulatorHarness(posting: receiver)
        try await harness.control("receiver", ["url": "http://127.0.0.1:8000/apple"])
        let first = try await harness.control("notifications", ["type": "account-delete"])
        #expect(first["delivered"] == false && receiver.requests.count == 3)
        let again = try await harness.control("notifications/resend", ["number": 1])
        #expect(again["delivered"] == true && again["jti"] == first["jti"])
        try await harness.control("notifications/resend", ["number": 1, "copies": 2])
        try await harness.control("notifications/resend", ["number": 1, "delay": "10s"])
        #expect(receiver.waits.last == .seconds(10))
        #expect(receiver.requests.count == 7)
        #expect(Set(receiver.requests.map { $0.body.revealed() }).count == 1)
        let page = await harness.look().text
        #expect(page.contains(#"<span class="badge error">500 × 3</span>"#))
        #expect(page.contains(#"<span class="badge ok">200 × 4</span>"#))
    }

    @Test func `without a receiver, a notification cannot be sent again`() async throws {
        let harness = try await EmulatorHarness(posting: Receiver())
        try await harness.control("notifications", ["type": "account-delete"])
        await #expect(throws: (any Error).self) {
            try await harness.control("notifications/resend", ["number": 1])
        }
        await #expect(throws: (any Error).self) {
            try await harness.control("notifications/resend", ["number": 2])
        }
        await #expect(throws: (any Error).self) {
            try await harness.control("receiver", ["url": "https://example.com/"])
        }
    }
}
