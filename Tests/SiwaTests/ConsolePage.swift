import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The console of an emulator, open in a browser.
struct ConsolePage {
    let browser: Browser

    /// A page that is open already.
    init(browser: Browser) { self.browser = browser }

    /// Opens it, on a wide window unless `browser` is given.
    ///
    /// - Parameter isLive: Whether to wait until the page receives events.
    init(_ apple: LocalApple, in browser: Browser? = nil, isLive: Bool = true) async throws {
        if let browser {
            self.browser = browser
        } else {
            self.browser = try await Browser()
            try await self.browser.show(width: 1600, height: 1000)
        }
        try await self.browser.open(apple.url + "/emulator")
        try await self.browser.wait(until: "document.title == 'siwa-emulator: console'")
        if isLive { try await wait("#live", says: "live") }
    }

    /// Waits until the first element that matches has this text.
    func wait(_ selector: String, says text: String) async throws {
        let (selector, text) = (JSON.string(selector).text, JSON.string(text).text)
        try await browser.wait(
            until: """
                (() => {
                  const text = document.querySelector(\(selector))?.innerText ?? "";
                  return text === \(text) || text.includes(\(text)) && \(text) !== "live";
                })()
                """)
    }

    /// The text of the first element that matches, as it is shown.
    func text(_ selector: String) async throws -> String {
        let found = try await browser.value(
            "document.querySelector(\(JSON.string(selector).text))?.innerText")
        return try #require(found.string, "\(selector)")
    }

    /// Writes into a field.
    func fill(_ selector: String, _ text: String) async throws {
        try await browser.run(
            "document.querySelector(\(JSON.string(selector).text)).value = \(JSON.string(text).text)"
        )
    }

    /// Texts with less contrast to their background than 4.5 (WCAG 2.2, success criterion 1.4.3).
    func faintTexts() async throws -> [String] {
        let found = try await browser.value(
            """
            (() => {
              const parts = color => (color.match(/[\\d.]+/g) ?? []).map(Number);
              const luminance = color => parts(color).slice(0, 3)
                .map(part => part / 255)
                .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
              const ground = element => {
                for (; element; element = element.parentElement) {
                  const color = getComputedStyle(element).backgroundColor;
                  if (parts(color)[3] !== 0) return color;
                }
                return "rgb(255, 255, 255)";
              };
              const faint = new Set();
              const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                const element = node.parentElement;
                if (!node.data.trim() || !element.checkVisibility()) continue;
                if (["SCRIPT", "NOSCRIPT", "OPTION"].includes(element.tagName)) continue;
                const pair = [getComputedStyle(element).color, ground(element)].map(luminance);
                const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
                if (contrast < 4.5) faint.add(`${contrast.toFixed(1)} ${node.data.trim()}`);
              }
              return [...faint];
            })()
            """)
        return try #require(found.elements).compactMap(\.string)
    }
}

extension LocalApple {
    /// Gives the console something of everything, with names as long as they can be.
    func fillConsole() async throws {
        let long = String(repeating: "long", count: 20)
        try await post(
            "users",
            [
                "name": .string(long), "first_name": .string(long),
                "email": .string("\(long)@\(long).example.com"),
            ])
        for user in ["alice", "bob", long] {
            let code = try await code(extra: user)
            let exchange = try await siwa("exchange", "--code", code)
            try #require(exchange.exitCode == 0, "\(exchange)")
        }
        try await send(
            "/auth/token",
            Form([("client_id", .plain(long)), ("redirect_uri", .plain(long + long))]),
            agent: long)
        let refused = try await siwa("refresh", "--token", "r-\(long)")
        try #require(refused.exitCode == 5, "\(refused)")
        try await post("faults", ["status": 503, "count": 7, "percent": 20])
        try await post("notifications", ["type": .string(long), "user": .string(long)])
        try await post("notifications", ["type": "consent-revoked", "user": "bob"])
        try await post("clock", ["offset": "183d"])
        try await post("clock", ["offset": "1h"])
    }

    private func code(extra user: String) async throws -> String {
        try await code(for: "com.example.app", [JSON.Member("user", .string(user))])
    }
}
