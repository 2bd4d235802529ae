import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The console at /emulator in a real browser, with real clicks, while the real `siwa` is at work.
@Suite(.enabled(if: Browser.executable != nil, "Chromium is not installed: make test-browser"))
struct ConsoleBrowserTests {
    @Test func `a refused request appears without a reload, with its reason and details`()
        async throws
    {
        let apple = try await LocalApple(usesTLS: false)
        let console = try await ConsolePage(apple)
        try await console.browser.run("window.isSamePage = true")
        #expect(try await apple.siwa("refresh", "--token", "r-bad").exitCode == 5)
        try await console.wait("#log .refused .verdict", says: "does not look like anything Apple")
        #expect(try await console.browser.value("window.isSamePage") == true)
        #expect(try await console.text("#log .refused .status") == "400 invalid_grant")

        try await console.browser.click("refresh_token: this does not look like")
        try await console.wait("#log .detail .failed", says: "does not look like anything Apple")
        let detail = try await console.text("#log .detail")
        for part in ["Checks, in Apple’s order", "Parameters", "client_secret, decoded", "As curl"]
        {
            #expect(detail.contains(part), "\(part)")
        }
        #expect(detail.contains("••••••") && !detail.contains("r-bad"))
        try await console.browser.click("Copy")
        try await console.wait("[data-copy]", says: "Copied")
        try await console.browser.click("refresh_token: this does not look like")
        try await console.browser.wait(until: "!document.querySelector('.detail')")
        #expect(console.browser.problems == [])
    }

    @Test
    func `a fault set by a click changes the next response, and a removed fault changes none`()
        async throws
    {
        let apple = try await LocalApple(usesTLS: false)
        let console = try await ConsolePage(apple)
        try await console.browser.click("invalid_client")
        try await console.wait("#faults .lines", says: "answered 400 instead")
        let struck = try await apple.siwa("refresh", "--token", "r-bad")
        #expect(struck.errors.hasPrefix("siwa: invalid_client: "), "\(struck)")
        try await console.wait("#log .request.fault", says: "fault: answered 400 instead")
        try await console.wait("#faults .empty", says: "No fault waits")

        try await console.browser.click("Outage (503)")
        try await console.wait("#faults .lines", says: "answered 503 instead")
        try await console.browser.click("Remove all")
        try await console.wait("#faults .empty", says: "No fault waits")
        #expect(try await apple.siwa("refresh", "--token", "r-bad").exitCode == 5)
        #expect(try await apple.requests().map { $0["status"] } == [400, 400])
        #expect(console.browser.problems == [])
    }

    @Test
    func
        `users, consents, keys and the clock are changed by clicks, and Apple sends notifications`()
        async throws
    {
        try await RawServer.serving([.readRequest, .answer(200), .close]) { receiver in
            let apple = try await LocalApple(usesTLS: false, changesKeys: true)
            let token = try await apple.siwa("exchange", "--code", try await apple.code()).json
            let console = try await ConsolePage(apple)
            let browser = console.browser
            try await console.fill("#notifications input[name=url]", receiver.url + "/apple")
            try await browser.click("Save")
            try await browser.click("Revoke consent")
            try await console.wait("#notifications .attempts", says: "200")
            try await console.wait("#people", says: "revoked")
            let body = try #require(receiver.requests.first?.body)
            let event = try await apple.siwa("notification", "-", input: body).json["event"]
            #expect(event?["type"] == "consent-revoked" && event?["user_id"] == token["user_id"])
            try await browser.click("Send twice")
            try await console.wait("#notifications .attempts", says: "200 × 3")
            #expect(Set(receiver.requests.map(\.body)) == [body])
            for (button, type) in [
                ("Stop relay mail", "email-disabled"), ("Delete account", "account-delete"),
            ] {
                try await browser.click(button)
                try await console.wait("#notifications", says: type)
                try await eventually(type) {
                    guard let body = receiver.requests.last?.body else { return false }
                    let event = try await apple.siwa("notification", "-", input: body).json["event"]
                    return event?["type"]?.string?.hasPrefix(type) == true
                }
            }
            let keys = try await apple.siwa("keys").output
            try await browser.click("Rotate")
            try await console.wait("#history", says: "keys/rotate")
            #expect(try await apple.siwa("keys", "--refresh").output != keys)
            try await browser.click("+1 day")
            try await console.wait("header", says: "1 day ahead")
            try await browser.click("Back to now")
            try await browser.wait(until: "!document.querySelector('header .warn')")
            #expect(browser.problems == [])
        }
    }

    @Test func `a user is added and signed in, and invalid input is reported`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        let console = try await ConsolePage(apple)
        let browser = console.browser
        try await browser.click("Add a user")
        try await console.fill("#people input[name=name]", "dora")
        try await console.fill("#people input[name=email]", "dora@example.com")
        try await browser.run(
            "document.querySelector('#people input[name=name]').form.requestSubmit()")
        try await console.wait("#people", says: "dora@example.com")
        // From now on timers do not wait.
        try await browser.run(
            "window.later = setTimeout; window.setTimeout = work => later(work, 0)")
        try await console.fill("#people input[name=name]", "dora")
        try await browser.run(
            "document.querySelector('#people input[name=name]').form.requestSubmit()")
        try await console.wait("#toasts .error", says: "'dora' exists already")
        // It stays until it is dismissed: no timer removes it.
        try await browser.run("setTimeout(() => { window.timersRan = true })")
        try await browser.wait(until: "window.timersRan")
        try await console.wait("#toasts .error", says: "'dora' exists already")
        try await browser.click("Dismiss")
        try await browser.wait(until: "!document.querySelector('#toasts .error')")
        try await browser.run("window.setTimeout = later")
        try await browser.click("Sign a user in")
        // Without a reload.
        try await browser.run("document.querySelector('#people select[name=user]').value = 'dora'")
        try await browser.wait(
            until: "document.querySelector('#people select[name=user]').value === 'dora'")
        try await browser.run(
            "document.querySelector('#people select[name=client_id]').form.requestSubmit()")
        try await browser.wait(until: "!!document.querySelector('#toasts code')")
        let code = try await console.text("#toasts code")
        #expect(try await apple.siwa("exchange", "--code", code).exitCode == 0)
        // The browser itself logs the one answer with status 400.
        #expect(browser.problems.count == 1, "\(browser.problems)")
    }

    @Test func `100 requests a second are all shown, and every click works meanwhile`()
        async throws
    {
        let apple = try await LocalApple(usesTLS: false)
        let console = try await ConsolePage(apple)
        // Counts what the page does: rows that it adds, and events that it handles.
        try await console.browser.run(
            """
            window.rows = 0; window.events = 0;
            new MutationObserver(changes => {
              window.events += 1;
              for (const change of changes)
                window.rows += [...change.addedNodes].filter(node => node.nodeType === 1).length;
            }).observe(document.getElementById("log"), { childList: true });
            """)
        // More than are sent before the clicks are done: the load is ended then.
        let tokens = (1...4000).map { "r-\($0)\n" }.joined()
        let load = try apple.start(
            ["batch", "revoke", "--input", "-", "--rate", "100/s", "--allow-unusual"],
            input: tokens)
        for number in 1...5 {
            try await console.browser.click("Slow, 5 s")
            try await console.wait("#faults .lines", says: "delayed by")
            try await console.browser.click("Remove all")
            try await console.wait("#faults .empty", says: "No fault waits")
            #expect(!load.hasEnded, "click \(number) took effect only after the last request")
        }
        try await console.browser.wait(until: "window.rows >= 400")
        load.signal(15)
        _ = try await load.result()
        var (count, last) = (0, 0)
        // A page has at most 1 MiB, whatever its limit.
        func newRequests() async throws -> Int {
            var found = 0
            while case let page = try await apple.requests(after: last, limit: 1000),
                let number = page.last?["number"]?.integer
            {
                (found, last) = (found + page.count, number)
            }
            return found
        }
        // Requests that were on their way when the load ended come last.
        try await eventually("every request has a row") {
            count += try await newRequests()
            return try await console.browser.value("window.rows") == .integer(count)
        }
        #expect(count >= 400)
        let events = try #require(try await console.browser.value("window.events").integer)
        #expect(events < count, "requests that come together are one event")
        #expect(
            try await console.browser.value("document.querySelectorAll('#log > li').length") == 200)
        #expect(console.browser.problems == [])
    }

    @Test func `without scripts, everything works by reloading`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        #expect(try await apple.siwa("refresh", "--token", "r-bad").exitCode == 5)
        let browser = try await Browser()
        try await browser.allowScripts(false)
        let console = try await ConsolePage(apple, in: browser, isLive: false)
        try await browser.wait(
            until: "!!document.querySelector('noscript meta[http-equiv=refresh]')")
        try await follow(
            "refresh_token: this does not look like", to: "#log .detail .failed",
            "does not look like anything Apple", in: console)
        try await follow(
            "invalid_client", to: "#faults .lines", "answered 400 instead", in: console)
        let struck = try await apple.siwa("refresh", "--token", "r-bad")
        #expect(struck.errors.hasPrefix("siwa: invalid_client: "), "\(struck)")
        #expect(browser.problems == [])
    }

    /// Clicks until a text is there: the page reloads by itself, and a click in that moment is lost.
    private func follow(
        _ link: String, to selector: String, _ text: String, in console: ConsolePage
    ) async throws {
        try await eventually("'\(text)' in \(selector)") {
            try? await console.browser.click(link)
            let found = "document.querySelector(\(JSON.string(selector).text))?.innerText"
            for _ in 0..<100 {
                let shown = try? await console.browser.value(found)
                if shown?.string?.contains(text) == true { return true }
                try await Task.sleep(for: .milliseconds(50))
            }
            return false
        }
    }

    @Test(arguments: [false, true])
    func `at every width, light and dark, nothing scrolls sideways and contrast suffices`(
        _ isDark: Bool
    ) async throws {
        let apple = try await LocalApple(usesTLS: false)
        try await apple.fillConsole()
        let browser = try await Browser()
        try await browser.prefer(dark: isDark)
        for width in [400, 700, 1000, 1600] {
            try await browser.show(width: width, height: 900)
            let console = try await ConsolePage(apple, in: browser)
            try await browser.run(
                """
                document.querySelectorAll("details").forEach(details => { details.open = true; });
                document.querySelectorAll("#log a.row").forEach(row => row.click());
                """)
            try await browser.wait(
                until: "document.querySelectorAll('.detail').length == "
                    + "document.querySelectorAll('#log a.row').length")
            let root = "document.documentElement"
            let overflow = try await browser.value("\(root).scrollWidth - \(root).clientWidth")
            #expect(overflow == 0, "\(width)")
            let ground = try await browser.value("getComputedStyle(document.body).backgroundColor")
            #expect(ground == (isDark ? "rgb(14, 17, 23)" : "rgb(244, 245, 248)"))
            #expect(try await console.faintTexts() == [], "\(width)")
        }
        #expect(browser.problems == [])
    }

    @Test func `a switch is set and set back by clicks, and a search finds requests as they come`()
        async throws
    {
        let apple = try await LocalApple(usesTLS: false)
        let console = try await ConsolePage(apple)
        let browser = console.browser
        try await console.wait("#switches", says: "Every switch is at its default.")
        try await browser.click("Set a switch")
        try await browser.run(
            """
            document.querySelector("#switches select").value = '{"missing_code":"invalid_grant"}';
            document.querySelector("#switches select").form.requestSubmit();
            """)
        try await console.wait("#switches .lines", says: "missing_code invalid_grant")
        #expect(try await apple.post("switches", [:])["missing_code"] == "invalid_grant")
        try await browser.click("Back to invalid_request")
        try await console.wait("#switches .empty", says: "Every switch is at its default.")
        try await browser.run(
            """
            document.querySelector("#switches input[name=code_lifetime]").value = "10m";
            document.querySelector("#switches input[name=code_lifetime]").form.requestSubmit();
            """)
        try await console.wait("#switches .lines", says: "code_lifetime 600")

        try await console.fill("input[name=find]", "R-BAD")
        try await browser.click("Find")
        try await console.wait(".welcome", says: "No request contains “R-BAD”")
        try await console.wait("#live", says: "live")
        try await console.fill("input[name=find]", "KEYS")
        try await browser.click("Find")
        try await browser.wait(
            until: "location.search === '?find=KEYS' && document.body.dataset.find === 'KEYS'")
        try await console.wait("#live", says: "live")
        #expect(try await apple.siwa("refresh", "--token", "r-bad").exitCode == 5)
        #expect(try await apple.siwa("keys", "--refresh").exitCode == 0)
        try await console.wait("#log", says: "/auth/keys")
        #expect(
            try await browser.value("document.querySelectorAll('#log > li').length") == 1)
        #expect(browser.problems == [])
    }

    @Test
    func `in a window of middle width, the right column ends within a screen of the left one`()
        async throws
    {
        let apple = try await LocalApple(usesTLS: false)
        try await apple.fillConsole()
        let browser = try await Browser()
        func bottom(_ selector: String) async throws -> Int {
            let found = try await browser.value(
                """
                Math.round(Math.max(...[...document.querySelectorAll("\(selector)")]
                  .map(element => element.getBoundingClientRect().bottom + scrollY)))
                """)
            return try #require(found.integer)
        }
        func isVisible(_ selector: String) async throws -> Bool {
            try await browser.value("document.querySelector('\(selector)').checkVisibility()")
                == true
        }
        for width in [1100, 1200, 1500] {
            try await browser.show(width: width, height: 900)
            let console = try await ConsolePage(apple, in: browser)
            let ends = (try await bottom("#requests"), try await bottom(".rail"))
            #expect(ends.1 - max(ends.0, 900) < 900, "\(width): \(ends)")
            // A folded section opens by a click, and by a link to it.
            #expect(try await !isVisible("#history"))
            try await browser.run("document.querySelector('#history-title').click()")
            try await console.wait("#history", says: "notifications")
            #expect(try await !isVisible("#sessions"))
            try await browser.run("document.querySelector('header a[href=\"#sessions\"]').click()")
            try await browser.wait(until: "document.querySelector('#sessions').checkVisibility()")
            // The page remembers what is unfolded.
            try await browser.run("sessionStorage.clear()")
        }
        #expect(browser.problems == [])
    }

    @Test func `quick clicks cover no button with notes`() async throws {
        let browser = try await Browser()
        for width in [500, 1200, 1600] {
            let apple = try await LocalApple(usesTLS: false)
            try await browser.show(width: width, height: 900)
            let console = try await ConsolePage(apple, in: browser)
            for _ in 1...6 { try await browser.click("Slow, 5 s") }
            try await console.wait("#toasts", says: "Done: Slow, 5 s")
            try await console.wait("#faults .lines li:nth-child(6)", says: "delayed by")
            #expect(
                try await browser.value("document.querySelectorAll('.toast').length <= 1") == true)
            let covered = try await browser.value(
                """
                [...document.querySelectorAll("button")].filter(button => {
                  if (!button.checkVisibility()) return false;
                  button.scrollIntoView({ block: "end" });
                  const box = button.getBoundingClientRect();
                  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                  return !button.contains(top);
                }).map(button => button.innerText)
                """)
            #expect(covered == [], "\(width)")
        }
        #expect(browser.problems == [])
    }

    @Test func `scripts that a client sends do not run on the page`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        let hostile =
            #"<img src=x onerror="document.title='run'">'"/><script>document.title='run'</script>"#
        try await apple.post(
            "users",
            ["name": "<img/src=x>", "first_name": .string(hostile), "email": .string(hostile)])
        try await apple.post("codes", ["client_id": "com.example.app", "user": "<img/src=x>"])
        try await apple.post("notifications", ["type": .string(hostile), "user": "<img/src=x>"])
        try await apple.post("faults", ["headers": ["X-A": .string(hostile)], "delay": "1ms"])
        let answer = try await apple.siwa(
            "refresh", "--token", "r-bad", "--client-id", "com.example.evil")
        #expect(answer.exitCode != 0)
        for name in ["client_id", "grant_type", "code", "scope"] {
            let form = Form([(name, .plain(hostile)), (hostile, .plain(hostile))])
            try await apple.send("/auth/token", form, agent: hostile)
        }
        let console = try await ConsolePage(apple)
        try await console.browser.run(
            "document.querySelectorAll('#log a.row').forEach(row => row.click())")
        try await console.browser.wait(until: "document.querySelectorAll('.detail').length >= 5")
        try await apple.send("/auth/token", Form([("client_id", .plain(hostile))]), agent: hostile)
        try await console.browser.wait(until: "document.querySelectorAll('#log > li').length >= 6")
        #expect(try await console.browser.value("document.title") == "siwa-emulator: console")
        #expect(try await console.browser.value("document.images.length") == 0)
        #expect(try await console.browser.value("document.scripts.length") == 1)
        #expect(try await console.text("body").contains("<script>document.title='run'</script>"))
        #expect(console.browser.problems == [])
    }

    @Test func `the page reconnects to its emulator after a restart`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        _ = try await apple.code()
        #expect(try await apple.siwa("keys", "--refresh").exitCode == 0)
        let console = try await ConsolePage(apple)
        try await console.wait("#log", says: "/auth/keys")
        try await console.browser.run("window.isSamePage = true")
        #expect(try await apple.stop().exitCode == 0)
        try await console.wait("#live", says: "not connected")
        let next = try apple.serveAgain()
        defer { next.signal(9) }
        try await console.wait("#live", says: "live")
        try await console.browser.wait(until: "window.isSamePage === undefined")
        try await console.wait(".welcome", says: "No request yet")
        try await console.browser.click("+1 hour")
        try await console.wait("header", says: "1 hour ahead")
    }

    @Test func `every element has a role and a name for screen readers`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        try await apple.fillConsole()
        let console = try await ConsolePage(apple)
        let names = try await console.browser.accessibleNames()
        func named(_ role: String) -> [String] { names.filter { $0.role == role }.map(\.name) }
        for role in ["button", "link", "textbox", "combobox", "spinbutton", "heading", "region"] {
            #expect(!named(role).isEmpty && !named(role).contains(""), "\(role)")
        }
        let buttons = named("button").filter { $0.hasPrefix("Revoke consent of") }
        #expect(Set(buttons).count == buttons.count && !buttons.isEmpty)
        #expect(
            named("region") == [
                "Requests", "Clock", "Faults", "Users", "Tokens", "Notifications",
                "Clients and keys", "Switches", "Changes",
            ])
        #expect(named("main").count == 1 && named("banner").count == 1)
        #expect(named("status").count == 1)
    }
}
