import AppleEmulator
import SIWACrypto
import SignInWithApple
import TestSupport
import Testing

/// The form on the page of `/auth/authorize`, and the way back to the client.
@Suite struct CallbackTests {
    private static let redirect = [("redirect_uri", Stand.callback)]

    @Test(arguments: [("query", "?"), ("fragment", "#")])
    func `a code by redirection works once at the token endpoint`(
        _ mode: String, _ separator: String
    ) async throws {
        let stand = try await Stand()
        let page = await stand.visit(["response_mode": mode, "state": "a b&c"])
        let answer = try await stand.submit(page)
        #expect(answer.status == 302 && answer.body.isEmpty)
        let location = try #require(answer.fields["location"])
        let shape = /https:\/\/example\.com\/callback(.)code=([a-z0-9._A-Z-]+)&state=a%20b%26c/
        let match = try #require(location.wholeMatch(of: shape), "\(location)")
        #expect(match.output.1 == separator)
        let code = String(match.output.2)
        let first = try await stand.exchange(code, as: Stand.web, Self.redirect)
        #expect(first.status == 200)
        let used = Outcome("invalid_grant", "The code has already been used.")
        #expect(try await stand.exchange(code, as: Stand.web, Self.redirect) == used)
    }

    @Test func `a query joins the one that is registered`() async throws {
        let stand = try await Stand()
        let page = await stand.visit(["redirect_uri": Stand.callbackWithQuery])
        let location = try await stand.submit(page).fields["location"]
        #expect(location?.hasPrefix(Stand.callbackWithQuery + "&code=c") == true)
    }

    @Test func `form_post brings code, identity token, user and state in a form`() async throws {
        let stand = try await Stand()
        let form = try await stand.callback([
            "response_type": "code id_token", "nonce": "n-1", "state": #"<">"#,
        ])
        #expect(form.fields.map(\.name) == ["code", "id_token", "user", "state"])
        #expect(form["state"] == #"<">"#)
        let claims = try await stand.verified(form["id_token"]).payload
        let code = try #require(form["code"])
        let half = Base64URL.encode(try SHA256.digest(code).prefix(16))
        #expect(claims["c_hash"] == .string(half) && claims["at_hash"] == nil)
        #expect(claims["nonce"] == "n-1" && claims["aud"] == .string(Stand.web))
        #expect(claims["email"] == "alice@example.com" && claims["is_private_email"] == nil)
        #expect(claims["real_user_status"] == nil)
        #expect(try await stand.exchange(code, as: Stand.web, Self.redirect).status == 200)
    }

    @Test func `the form sends itself, and has a button without scripts`() async throws {
        let stand = try await Stand()
        let page = await stand.visit(["response_mode": "form_post"])
        let answer = try await stand.submit(page)
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
    func `a cancellation goes back in the mode asked for`(
        _ mode: String, _ location: String?
    ) async throws {
        let stand = try await Stand()
        let page = await stand.visit(["response_mode": mode, "state": "s"])
        let answer = try await stand.submit(page, ["action": "cancel"])
        #expect(answer.fields["location"] == location)
        if location == nil {
            let form = try #require(HTMLForm(answer.body))
            #expect(form.fields.map(\.name) == ["error", "state"])
            #expect(form["error"] == "user_cancelled_authorize" && form["state"] == "s")
        }
        #expect(try await stand.callback()["user"] != nil)
    }

    @Test func `web_message hands the answer to the site that opened the window`() async throws {
        let stand = try await Stand()
        let asked = [
            "response_mode": "web_message", "response_type": "code id_token",
            "scope": "name email", "state": #"</p>"'"#,
        ]
        let page = try await stand.submit(await stand.visit(asked), ["email": "share"])
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
        #expect(try await stand.exchange(code, as: Stand.web, Self.redirect).status == 200)
    }

    @Test(arguments: [("verifier", 200), ("another", 400), (nil, 400)])
    func `PKCE reaches the token endpoint`(_ verifier: String?, _ status: Int) async throws {
        let stand = try await Stand()
        let challenge = Base64URL.encode(try SHA256.digest("verifier"))
        let form = try await stand.callback([
            "code_challenge": challenge, "code_challenge_method": "S256",
        ])
        let sent = verifier.map { [("code_verifier", $0)] } ?? []
        let outcome = try await stand.exchange(
            try #require(form["code"]), as: Stand.web, Self.redirect + sent)
        #expect(outcome.status == status)
    }

    @Test func `a page is answered once`() async throws {
        let stand = try await Stand()
        let page = await stand.visit()
        #expect(try await stand.submit(page).status == 302)
        let again = try await stand.submit(page)
        #expect(again.status == 400 && again.text.contains("<h1>invalid_request</h1>"))
        #expect(try await stand.verdict().hasPrefix("transaction: this page was answered before"))
    }

    @Test(arguments: [
        ("user", "dave", "user: there is no such user"), ("user", nil, "user: missing or empty"),
        ("email", "keep", "email: must be share or hide"),
        ("email", nil, "email: missing or empty"),
        ("transaction", nil, "transaction: missing or empty"),
        ("transaction", "x", "transaction: this page was answered before"),
    ])
    func `a form nobody was shown`(
        _ name: String, _ value: String?, _ verdict: String
    ) async throws {
        let stand = try await Stand()
        let page = await stand.visit(["scope": "email", "response_mode": "form_post"])
        let answer = try await stand.submit(page, [name: value])
        #expect(answer.status == 400 && answer.fields["location"] == nil)
        #expect(try await stand.verdict().hasPrefix(verdict))
    }

    @Test func `the oldest of more than a thousand open pages is closed`() async throws {
        let stand = try await Stand()
        let oldest = await stand.visit()
        let second = await stand.visit()
        for _ in 0..<999 { _ = await stand.visit() }
        #expect(try await stand.submit(oldest).status == 400)
        #expect(try await stand.submit(second).status == 302)
    }

    @Test func `the log shows neither state nor transaction`() async throws {
        let stand = try await Stand()
        let page = await stand.visit(["state": "s3cret-state", "nonce": "s3cret-nonce"])
        let transaction = try #require(HTMLForm(page.body)?["transaction"])
        _ = try await stand.submit(page)
        let log = try await stand.control("requests").text
        #expect(!log.contains("s3cret") && !log.contains(transaction))
        #expect(log.contains(SecretText(transaction).fingerprint))
        #expect(
            log.contains(
                #""parameters":["client_id","redirect_uri","response_type","nonce","state"]"#))
    }
}
