import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The page of `/auth/authorize`.
@Suite struct AuthorizeTests {
    @Test(arguments: AuthorizeCase.all)
    func `an authorization request is accepted or refused as Apple does`(_ row: AuthorizeCase)
        async throws
    {
        let harness = try await EmulatorHarness(["allow_loopback_redirect": .boolean(row.switches)])
        let page = await harness.visit(row.changes)
        #expect(page.status == (row.error == nil ? 200 : 400))
        #expect(page.fields["location"] == nil)
        #expect(page.fields["content-type"] == "text/html;charset=UTF-8")
        #expect(HTMLForm(page.body)?.action == (row.error == nil ? "/auth/authorize/consent" : nil))
        let record = try await harness.record()
        #expect(try record.text("verdict") == row.verdict)
        #expect(record["error"] == row.error.map(JSON.string) ?? .null)
        if let error = row.error {
            #expect(page.text.contains("<h1>\(error)</h1>"))
            #expect(page.text.contains(escaped(row.verdict)), "\(page.text)")
        }
        if let description = row.description {
            #expect(page.text.contains("<p>\(description)</p>"))
        }
    }

    @Test(arguments: SIWALifecycle.AuthorizationRequest.ResponseType.allCases)
    func `requests that the library builds are accepted, and requests that it refuses are refused`(
        _ type: SIWALifecycle.AuthorizationRequest.ResponseType
    ) async throws {
        typealias Request = SIWALifecycle.AuthorizationRequest
        let harness = try await EmulatorHarness()
        for mode in Request.ResponseMode.allCases {
            for scopes in [[], [.email], Set(Request.Scope.allCases)] {
                let request = try? Request(
                    clientID: ClientID(unchecked: EmulatorHarness.web),
                    redirectURI: RedirectURI(validating: EmulatorHarness.callback),
                    responseType: type,
                    responseMode: mode, scopes: scopes, state: SecretText("a b"))
                let names = scopes.map(\.rawValue).joined(separator: " ")
                let page =
                    if let request {
                        await harness.get(
                            String(
                                request.url().revealed().dropFirst(BaseURL.apple.description.count))
                        )
                    } else {
                        await harness.visit([
                            "response_type": type.rawValue, "response_mode": mode.rawValue,
                            "scope": names,
                        ])
                    }
                #expect(page.status == (request == nil ? 400 : 200), "\(mode) \(names)")
            }
        }
    }

    @Test(arguments: [
        ("client_id=a&client_id=b", "client_id: given twice"),
        ("client_id=%zz", "parameters: a '%' without two hexadecimal digits after it"),
        ("", "client_id: missing or empty"),
    ])
    func `an invalid query is answered with a page as well`(_ query: String, _ verdict: String)
        async throws
    {
        let harness = try await EmulatorHarness()
        let page = await harness.get("/auth/authorize?" + query)
        #expect(page.status == 400 && page.text.contains("<h1>invalid_request</h1>"))
        #expect(try await harness.verdict() == verdict)
    }

    @Test(arguments: [
        (["client_id": EmulatorHarness.app], "Send the Services ID of the website"),
        (["client_id": "com.example.unknown"], "a client in emulator.json, letter for letter"),
        (["redirect_uri": "https://example.com/other"], "Send one of the redirect_uris"),
        (
            ["response_type": "code id_token", "response_mode": "query"],
            "or response_type=code, whose answer may be part of a query"
        ),
        (["scope": "email", "response_mode": "query"], "Send response_mode=form_post: name"),
    ])
    func `a refused sign-in shows advice about its own mistake`(
        _ changes: [String: String?], _ advice: String
    ) async throws {
        let page = await (try await EmulatorHarness()).visit(changes)
        let text = try #require(page.text.split(separator: "What to change").last)
        #expect(text.contains(advice), "\(text)")
    }

    @Test func `a repeated parameter shows advice as well`() async throws {
        let page = await (try await EmulatorHarness()).get("/auth/authorize?state=a&state=b")
        #expect(page.text.contains("Send each parameter once."))
    }

    @Test func `a refusal can be sent as data in a page with status 200`() async throws {
        let harness = try await EmulatorHarness(["authorize_refusal": "200"])
        let page = await harness.visit(["client_id": "com.example.unknown"])
        #expect(page.status == 200)
        let data = try #require(
            page.text.firstMatch(of: /<script type="application\/json">(.*)<\/script>/)?.output.1)
        #expect(
            try JSON(text: String(data))
                == ["direct": ["errorMessage": "Invalid client.", "errorCode": "invalid_client"]])
        #expect(try await harness.record()["error"] == "invalid_client")
    }

    @Test(arguments: [
        ("application/json", true), ("text/plain, Application/JSON; q=0.9", true),
        ("text/html,application/json", false), ("*/*", false),
    ])
    func `a refusal is JSON if the client asks for JSON`(_ accept: String, _ isJSON: Bool)
        async throws
    {
        let harness = try await EmulatorHarness()
        let answer = await harness.emulator.respond(
            to: EmulatorRequest(
                method: "GET", target: "/auth/authorize", fields: [HTTPField("Accept", accept)])
        ).response
        #expect(answer.status == 400)
        #expect((answer.text == #"{"error":"invalid_request"}"#) == isJSON, "\(answer.text)")
        #expect(try await harness.verdict() == "client_id: missing or empty")
    }

    @Test func `text that a client sends is escaped in the page`() async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["response_type": #"<script>"&'</script>"#])
        #expect(page.text.contains("&#39;&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;&#39;"))
        #expect(!page.text.contains("<script"))
    }

    @Test func `the page shows the client, the requested scopes and the users who can sign in`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let page = await harness.visit(["scope": "name email", "response_mode": "form_post"])
        let text = page.text
        for expected in [
            #"<html lang="en">"#, "<title>Sign in to com.example.web – siwa-emulator</title>",
            "This is siwa-emulator, not Apple.", "<h1>Sign in to com.example.web</h1>",
            "com.example.web asks for name and email. Afterwards you return to example.com.",
            "<legend>Who signs in?</legend>", "<legend>The address</legend>",
            "Alice O&#39;Hara &amp; &lt;Sons&gt; <small>alice@example.com, first time here</small>",
            "carol <small>no address, first time here</small>",
            #"<button class="primary" name="action" value="continue">Continue</button>"#,
            #"<button name="action" value="cancel">Cancel</button>"#,
        ] { #expect(text.contains(expected), "\(expected)") }
        #expect(text.matches(of: /<h1>/).count == 1 && !text.contains("<script"))
        #expect(text.matches(of: /<input type="radio"/).count == 5)
        let form = try #require(HTMLForm(page.body))
        #expect(form["user"] == "alice" && form["email"] == "share")
    }

    @Test func `without the email scope, the page does not ask about the address`() async throws {
        let harness = try await EmulatorHarness()
        let page = await harness.visit()
        #expect(page.text.contains("asks for neither name nor email."))
        #expect(page.text.matches(of: /<fieldset/).count == 1)
    }

    @Test func `the page loads nothing from other hosts and runs only its own script`() async throws
    {
        let harness = try await EmulatorHarness()
        let page = await harness.visit()
        let policy = try #require(page.fields["content-security-policy"])
        let nonce = try #require(page.text.firstMatch(of: /<style nonce="([^"]*)">/)?.output.1)
        #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-\(nonce)'; "))
        #expect(policy.hasSuffix("; base-uri 'none'; frame-ancestors 'none'"))
        #expect(await harness.visit().fields["content-security-policy"] != policy)
        #expect(page.fields["cache-control"] == "no-store")
        #expect(page.fields["x-frame-options"] == "DENY")
        #expect(!page.text.contains("http"))
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("'", with: "&#39;")
            .replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
