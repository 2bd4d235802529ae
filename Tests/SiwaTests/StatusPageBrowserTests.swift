import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The status page in a real browser.
@Suite(.enabled(if: Browser.executable != nil, "Chromium is not installed: make test-browser"))
struct StatusPageBrowserTests {
    @Test func `at every width, light and dark, nothing scrolls sideways and contrast suffices`()
        async throws
    {
        let fixture = try await ServerFixture()
        let server = try await Self.busy(fixture)
        let browser = try await Browser()
        for (width, isDark) in [(400, false), (400, true), (1200, false), (1200, true)] {
            try await browser.show(width: width, height: 900)
            try await browser.prefer(dark: isDark)
            try await browser.open("http://\(try server.place("metrics"))/")
            try await browser.wait(until: "document.title == 'siwa-server: 1 problem'")
            let root = "document.documentElement"
            let overflow = try await browser.value("\(root).scrollWidth - \(root).clientWidth")
            #expect(overflow == 0, "\(width)")
            let ground = try await browser.value("getComputedStyle(document.body).backgroundColor")
            #expect(ground == (isDark ? "rgb(22, 22, 23)" : "rgb(255, 255, 255)"))
            #expect(
                try await ConsolePage(browser: browser).faintTexts() == [], "\(width), \(isDark)")
        }
        // Problems are shown first; the page loads no other resources.
        let first = try await browser.value("document.querySelector('main > section').innerText")
        #expect(first.string?.hasPrefix("Problems\nApple's keys come from a file.") == true)
        #expect(try await browser.value("document.scripts.length + document.images.length") == 0)
        #expect(try await browser.value("document.querySelectorAll('svg rect').length > 0") == true)
        let text = try #require(try await browser.value("document.body.innerText").string)
        #expect(!text.contains(fixture.vault.people.userID(1)))
        #expect(browser.problems == [])
        #expect(try await server.stop().ending == .exit(0))
    }

    /// A server with events, stored tokens, a profile of a long name, and something that is wrong.
    private static func busy(_ fixture: ServerFixture) async throws -> ServerProcess {
        _ = try await fixture.vault.store([1, 2])
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        let file = try JSON(try fixture.apple.folder.contents("apple/config.json"))
        let app = try #require(file["profiles"]?["app"])
        let long = String(repeating: "long", count: 20)
        try fixture.apple.folder.write(
            "apple/server.json",
            JSON.object([
                .init("default_profile", .string(long)),
                .init("profiles", .object([.init(long, app)])),
                .init(
                    "server", .object(fixture.listeners + [.init("jwks_file", "keys.json")])),
            ]).text)
        let server = try await fixture.serve()
        for number in 1...3 {
            let body = try signer.body(
                "event-\(number)", about: fixture.vault.people.userID(number))
            try #require(try await server.post(body).status == 200)
        }
        try #require(try await server.api("GET", "/v1/secret").status == 200)
        return server
    }
}
