import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The form on the page of `/auth/authorize`, and the way back to the client.
@Suite struct CallbackTests {
    private static let redirect = [("redirect_uri", EmulatorHarness.callback)]

    @Test(arguments: [("query", "?"), ("fragment", "#")])
    func `a code sent by redirection is accepted once at the token endpoint`(
        _ mode: String, _ separator: String
    ) async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["response_mode": mode, "state": "a b&c"])
        let answer = try await harness.submit(page)
        #expect(answer.status == 302 && answer.body.isEmpty)
        let location = try #require(answer.fields["location"])
        let shape = /https:\/\/example\.com\/callback(.)code=([a-z0-9._A-Z-]+)&state=a%20b%26c/
        let match = try #require(location.wholeMatch(of: shape), "\(location)")
        #expect(match.output.1 == separator)
        let code = String(match.output.2)
        let first = try await harness.exchange(code, as: EmulatorHarness.web, Self.redirect)
        #expect(first.status == 200)
        let used = Outcome("invalid_grant", "The code has already been used.")
        #expect(try await harness.exchange(code, as: EmulatorHarness.web, Self.redirect) == used)
    }

    @Test func `the response is appended to the query of the registered redirect URI`() async throws
    {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["redirect_uri": EmulatorHarness.callbackWithQuery])
        let location = try await harness.submit(page).fields["location"]
        #expect(location?.hasPrefix(EmulatorHarness.callbackWithQuery + "&code=c") == true)
    }

    @Test func `form_post sends code, identity token, user and state in a form`() async throws {
        let harness = try await EmulatorHarness()
        let form = try await harness.callback([
            "response_type": "code id_token", "nonce": "n-1", "state": #"<">"#,
        ])
        #expect(form.fields.map(\.name) == ["code", "id_token", "user", "state"])
        #expect(form["state"] == #"<">"#)
        let claims = try await harness.verified(form["id_token"]).payload
        let code = try #require(form["code"])
        let half = Base64URL.encode(try SHA256.digest(code).prefix(16))
        #expect(claims["c_hash"] == .string(half) && claims["at_hash"] == nil)
        #expect(claims["nonce"] == "n-1" && claims["aud"] == .string(EmulatorHarness.web))
        #expect(claims["email"] == "alice@example.com" && claims["is_private_email"] == nil)
        #expect(claims["real_user_status"] == nil)
        #expect(
            try await harness.exchange(code, as: EmulatorHarness.web, Self.redirect).status == 200)
    }

    @Test func `the form submits itself, and has a button for browsers without scripts`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["response_mode": "form_post"])
        let answer = try await harness.submit(page)
        let nonce = try #require(
            answer.text.firstMatch(
                of: /<script nonce="([^"]*)">document\.forms\[0\]\.submit\(\)<\/script>/))
        #expect(
            answer.fields["content-security-policy"]?
                .contains("script-src 'nonce-\(nonce.output.1)'") == true)
        #expect(answer.text.contains("<button>Continue to example.com</button>"))
        #expect(answer.fields["cache-control"] == "no-store")
    }

    @Test(arguments: [
        ("query", "https://example.com/callback?error=user_cancelled_authorize&state=s"),
        ("fragment", "https://example.com/callback#error=user_cancelled_authorize&state=s"),
        ("form_post", nil),
    ])
    func `a cancellation is returned in the requested response mode`(
        _ mode: String, _ location: String?
    ) async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["response_mode": mode, "state": "s"])
        let answer = try await harness.submit(page, ["action": "cancel"])
        #expect(answer.fields["location"] == location)
        if location == nil {
            let form = try #require(HTMLForm(answer.body))
            #expect(form.fields.map(\.name) == ["error", "state"])
            #expect(form["error"] == "user_cancelled_authorize" && form["state"] == "s")
        }
        #expect(try await harness.callback()["user"] != nil)
    }

    @Test func `web_message sends the response to the site that opened the window`() async throws {
        let harness = try await EmulatorHarness()
        let asked = [
            "response_mode": "web_message", "response_type": "code id_token",
            "scope": "name email", "state": #"</p>"'"#,
        ]
        let page = try await harness.submit(await harness.visit(asked), ["email": "share"])
        let script = try #require(
            page.text.firstMatch(
                of: /<p id="message" data-origin="([^"]*)" data-message="([^"]*)">/))
        #expect(script.output.1 == "https://example.com")
        let message = try JSON(
            text: String(script.output.2).replacing("&quot;", with: "\"").replacing(
                "&#39;", with: "'"
            )
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">")
            .replacing("&amp;", with: "&"))
        #expect(message["method"] == "oauthDone")
        let data = try #require(message["data"])
        #expect(data.members?.map(\.name) == ["authorization", "user"])
        #expect(data["user"]?["name"]?["firstName"] == "Alice")
        let authorization = try #require(data["authorization"])
        #expect(authorization.members?.map(\.name) == ["code", "id_token", "state"])
        #expect(authorization["state"] == #"</p>"'"#)
        let code = try authorization.text("code")
        #expect(
            try await harness.exchange(code, as: EmulatorHarness.web, Self.redirect).status == 200)
    }

    @Test(arguments: [("verifier", 200), ("another", 400), (nil, 400)])
    func `the code challenge is checked at the token endpoint`(_ verifier: String?, _ status: Int)
        async throws
    {
        let harness = try await EmulatorHarness()
        let challenge = Base64URL.encode(try SHA256.digest("verifier"))
        let form = try await harness.callback([
            "code_challenge": challenge, "code_challenge_method": "S256",
        ])
        let sent = verifier.map { [("code_verifier", $0)] } ?? []
        let outcome = try await harness.exchange(
            try #require(form["code"]), as: EmulatorHarness.web, Self.redirect + sent)
        #expect(outcome.status == status)
    }

    @Test func `a page accepts only one answer`() async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.visit()
        #expect(try await harness.submit(page).status == 302)
        let again = try await harness.submit(page)
        #expect(again.status == 400 && again.text.contains("<h1>invalid_request</h1>"))
        #expect(try await harness.verdict().hasPrefix("transaction: this page was answered before"))
    }

    @Test(arguments: [
        ("user", "dave", "user: the user does not exist"), ("user", nil, "user: missing or empty"),
        ("email", "keep", "email: must be share or hide"),
        ("email", nil, "email: missing or empty"),
        ("transaction", nil, "transaction: missing or empty"),
        ("transaction", "x", "transaction: this page was answered before"),
    ])
    func `a form that the emulator never showed is refused`(
        _ name: String, _ value: String?, _ verdict: String
    ) async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["scope": "email", "response_mode": "form_post"])
        let answer = try await harness.submit(page, [name: value])
        #expect(answer.status == 400 && answer.fields["location"] == nil)
        #expect(try await harness.verdict().hasPrefix(verdict))
    }

    @Test func `when more than a thousand pages are open, the oldest is closed`() async throws {
        let harness = try await EmulatorHarness()
        let oldest = await harness.visit()
        let second = await harness.visit()
        for _ in 0..<999 { _ = await harness.visit() }
        #expect(try await harness.submit(oldest).status == 400)
        #expect(try await harness.submit(second).status == 302)
    }

    @Test func `the log contains neither state nor transaction`() async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["state": "s3cret-state", "nonce": "s3cret-nonce"])
        let transaction = try #require(HTMLForm(page.body)?["transaction"])
        _ = try await harness.submit(page)
        let log = try await harness.control("requests").text
        #expect(!log.contains("s3cret") && !log.contains(transaction))
        #expect(log.contains(SecretText(transaction).fingerprint))
        #expect(
            log.contains(
                #""parameters":["client_id","redirect_uri","response_type","nonce","state"]"#))
    }
}
