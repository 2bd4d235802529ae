import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The sign-in page of the emulator in a real browser, with the real `siwa` as its client.
///
/// Chromium is large and only these tests need it: `make test-browser` installs it; without it,
/// these tests are reported as skipped. `SignInPageTests` test the same without it.
@Suite(.enabled(if: Browser.executable != nil, "Chromium is not installed: make test-browser"))
struct BrowserTests {
    /// A page after the client's redirect: browsers hold a form's policy against it, too.
    private static let home: [Step] = [
        .readRequest, .answer(200, "<!DOCTYPE html><title>home</title>", type: "text/html"), .again,
    ]

    @Test func `a user signs in with a hidden address, form_post and siwa exchange`() async throws {
        try await Self.atTheClient { apple, client in
            let browser = try await Browser()
            try await browser.open(client.signIn(at: apple, "name email", mode: "form_post"))
            try await browser.wait(until: "document.title.startsWith('Sign in to')")
            try await browser.click("Hide my email")
            try await browser.click("Continue")
            try await browser.wait(until: "document.title == 'home'")

            let answer = try #require(
                client.receiver.requests.first { $0.line.hasPrefix("POST /callback ") })
            #expect(answer.parameter("state") == "s-1")
            let user = try JSON(text: try #require(answer.parameter("user")))
            #expect(user["name"] == ["firstName": "Alice", "lastName": "Archer"])
            #expect(user["email"]?.string?.hasSuffix("@privaterelay.appleid.com") == true)

            let exchange = try await apple.siwa(
                "--profile", "web", "exchange", "--redirect-uri", client.callback, "--code", "-",
                input: try #require(answer.parameter("code")))
            try #require(exchange.exitCode == 0, "\(exchange)")
            let token = try CompactJWS(try #require(exchange.json["id_token"]?.string))
            #expect(token.payload["email"] == user["email"])
        }
    }

    @Test func `at the second sign-in, another choice changes nothing, and no user field is sent`()
        async throws
    {
        try await Self.atTheClient { apple, client in
            let browser = try await Browser()
            for choice in ["Hide my email", "Share my email"] {
                try await browser.open(client.signIn(at: apple, "email", mode: "form_post"))
                try await browser.wait(until: "document.title.startsWith('Sign in to')")
                try await browser.click(choice)
                try await browser.click("Continue")
                try await browser.wait(until: "document.title == 'home'")
            }
            let users = client.receiver.requests.filter { $0.line.hasPrefix("POST /callback ") }
                .map { $0.parameter("user") }
            #expect(users.count == 2 && users[0] != nil && users[1] == nil)
        }
    }

    @Test(arguments: [("query", "search"), ("fragment", "hash")])
    func `another user signs in by redirection`(_ mode: String, _ place: String) async throws {
        try await Self.atTheClient(redirects: false) { apple, client in
            let browser = try await Browser()
            try await browser.open(client.signIn(at: apple, "", mode: mode))
            try await browser.wait(until: "document.title.startsWith('Sign in to')")
            try await browser.click("Carol Cooper")
            try await browser.click("Continue")
            try await browser.wait(until: "document.title == 'client'")
            let found = try await browser.value("location.\(place)").string
            #expect(found?.dropFirst().hasPrefix("code=c") == true, "\(found ?? "")")
            #expect(found?.hasSuffix("&state=s-1") == true)
        }
    }

    @Test func `without JavaScript, a button continues, and cancelling works`() async throws {
        try await Self.atTheClient(redirects: false) { apple, client in
            let browser = try await Browser()
            try await browser.allowScripts(false)
            try await browser.open(client.signIn(at: apple, "name", mode: "form_post"))
            try await browser.wait(until: "document.title.startsWith('Sign in to')")
            try await browser.click("Cancel")
            try await browser.wait(until: "document.title.startsWith('Back to 127.0.0.1')")
            #expect(client.receiver.requests.isEmpty)
            try await browser.click("Continue to 127.0.0.1")
            try await browser.wait(until: "document.title == 'client'")
            let answer = try #require(client.receiver.requests.first)
            #expect(answer.parameter("error") == "user_cancelled_authorize")
        }
    }

    @Test func `a user can sign in with the keyboard only`() async throws {
        try await Self.atTheClient(redirects: false) { apple, client in
            let browser = try await Browser()
            try await browser.open(client.signIn(at: apple, "email", mode: "form_post"))
            // Before the page is complete, a key moves the focus in the part that is there.
            try await browser.wait(
                until: "document.readyState == 'complete'"
                    + " && document.title.startsWith('Sign in to')")
            for key in ["Tab", "ArrowDown", "Tab", "ArrowDown", "Tab"] {
                try await browser.press(key)
            }
            #expect(try await browser.value("document.activeElement.innerText") == "Continue")
            let outline = "getComputedStyle(document.activeElement).outlineStyle"
            #expect(try await browser.value(outline) == "solid")
            try await browser.press("Enter")
            try await browser.wait(until: "document.title == 'client'")
            let user = try #require(client.receiver.requests.first?.parameter("user"))
            #expect(user.contains("x7k2m9q4zt@privaterelay.appleid.com"), "\(user)")
            #expect(browser.problems == [])
        }
    }

    @Test(arguments: [false, true])
    func `the error page explains the fault and its fix`(_ isDark: Bool) async throws {
        let apple = try await LocalApple(usesTLS: false)
        let browser = try await Browser()
        try await browser.prefer(dark: isDark)
        try await browser.open(
            apple.url + "/auth/authorize?client_id=com.example.web&response_type=code"
                + "&redirect_uri=https%3A%2F%2Fexample.com%2Felsewhere")
        try await browser.wait(until: "document.title.startsWith('invalid_request')")
        let names = try await browser.accessibleNames().filter { $0.role == "heading" }.map(\.name)
        #expect(names == ["invalid_request", "What Apple says", "What is wrong", "What to change"])
        let text = try await browser.value("document.body.innerText").string ?? ""
        #expect(text.contains("This is siwa-emulator, not Apple."))
        #expect(text.contains("'https://example.com/elsewhere' is not registered"))
        #expect(try await ConsolePage(browser: browser).faintTexts() == [])
        #expect(try await browser.value("document.documentElement.scrollWidth") == 360)
        try await browser.click("See the request in the console")
        try await browser.wait(until: "document.title == 'siwa-emulator: console'")
    }

    @Test func `every element of the page has a name, and the page fits a phone`() async throws {
        try await Self.atTheClient { apple, client in
            let browser = try await Browser()
            try await browser.open(client.signIn(at: apple, "name email", mode: "form_post"))
            try await browser.wait(until: "document.title.startsWith('Sign in to')")
            let names = try await browser.accessibleNames()
            func named(_ role: String) -> [String] {
                names.filter { $0.role == role }.map(\.name)
            }
            #expect(named("heading") == ["Sign in to com.example.web"])
            #expect(named("button") == ["Continue", "Cancel"])
            #expect(named("group") == ["Who signs in?", "The address"])
            #expect(
                named("radio") == [
                    "Alice Archer alice@example.com, first time here",
                    "Bob Baker x7k2m9q4zt@privaterelay.appleid.com, first time here",
                    "Carol Cooper no address, first time here", "Share my email",
                    "Hide my email a relay address takes its place",
                ])
            #expect(try await browser.value("document.documentElement.lang") == "en")
            let width = try await browser.value("document.documentElement.scrollWidth")
            #expect(width == 360)
            #expect(try await ConsolePage(browser: browser).faintTexts() == [])
            #expect(browser.problems == [])
        }
    }
}

extension BrowserTests {
    /// The website: a receiver on this machine.
    struct Website {
        let receiver: RawServer

        var callback: String { receiver.url + "/callback" }

        /// The URL of its button.
        func signIn(at apple: LocalApple, _ scope: String, mode: String) -> String {
            let query = Form(
                [
                    ("client_id", "com.example.web"), ("redirect_uri", callback),
                    ("response_type", "code"), ("response_mode", mode), ("scope", scope),
                    ("state", "s-1"),
                ].map { ($0, .plain($1)) })
            return "\(apple.url)/auth/authorize?"
                + String(decoding: query.encoded().revealed(), as: UTF8.self)
        }
    }

    /// Runs `body` with an emulator that redirects users to a website on this machine, which
    /// redirects them to another host.
    private static func atTheClient(
        redirects: Bool = true, _ body: (LocalApple, Website) async throws -> Void
    ) async throws {
        try await RawServer.serving(home) { home in
            let target = "Location: http://localhost:\(home.port)/"
            let answer: Step =
                redirects
                ? .answer(302, fields: [target])
                : .answer(200, "<!DOCTYPE html><title>client</title>", type: "text/html")
            try await RawServer.serving([.readRequest, answer, .again]) { receiver in
                let website = Website(receiver: receiver)
                let apple = try await LocalApple(usesTLS: false, callback: website.callback)
                try await apple.post("switches", ["allow_loopback_redirect": true])
                try await body(apple, website)
            }
        }
    }
}
