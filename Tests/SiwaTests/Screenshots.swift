import Glibc
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Where the pictures go.
private let folder = getenv("SIWA_SCREENSHOTS").map { String(cString: $0) }

/// The pictures of docs/emulator.md: `make screenshots` draws them.
@Suite(
    .enabled(
        if: Browser.executable != nil && folder != nil,
        "make screenshots sets SIWA_SCREENSHOTS"))
struct Screenshots {
    @Test func `screenshots of the console and the sign-in page are drawn`() async throws {
        let apple = try await LocalApple(usesTLS: false)
        try await prepare(apple)
        let browser = try await Browser()
        try await drawConsole(apple, in: browser)
        try await drawSignIn(apple, in: browser)
    }

    /// Makes what the pictures show.
    private func prepare(_ apple: LocalApple) async throws {
        let session = try await apple.siwa("exchange", "--code", try await apple.code()).json
        for user in ["bob", "carol"] {
            let code = try await apple.code(
                for: "com.example.app", [JSON.Member("user", .string(user))])
            try #require(try await apple.siwa("exchange", "--code", code).exitCode == 0)
        }
        let token = try #require(session["refresh_token"]?.string)
        try #require(try await apple.siwa("refresh", "--token", token).exitCode == 0)
        try await apple.post("notifications", ["type": "email-disabled", "user": "bob"])
        try await apple.post("faults", ["endpoint": "/auth/keys", "status": 503])
        // A secret that expired before the emulator's time.
        try await apple.post("clock", ["forward": "1h"])
        try #require(try await apple.siwa("refresh", "--token", token).exitCode != 0)
    }

    private func drawConsole(_ apple: LocalApple, in browser: Browser) async throws {
        for (name, width, height, isDark) in [
            ("console", 1600, 1000, false), ("console-dark", 1600, 1000, true),
            ("console-narrow", 400, 860, false),
        ] {
            try await browser.show(width: width, height: height)
            try await browser.prefer(dark: isDark)
            let console = try await ConsolePage(apple, in: browser)
            if width > 1000 {
                try await browser.run("document.querySelector('#log .refused a.row').click()")
                try await console.wait("#log .detail .failed", says: "expired")
            }
            try save(name, try await browser.screenshot())
        }
    }

    private func drawSignIn(_ apple: LocalApple, in browser: Browser) async throws {
        try await browser.prefer(dark: false)
        for (name, path, height) in [
            ("sign-in", "/callback", 960), ("sign-in-error", "/elsewhere", 700),
        ] {
            try await browser.show(width: 800, height: height)
            try await browser.open(
                apple.url + "/auth/authorize?client_id=com.example.web&response_type=code"
                    + "&response_mode=form_post&scope=name%20email"
                    + "&redirect_uri=https%3A%2F%2Fexample.com\(path)")
            try await browser.wait(until: "document.title.endsWith('siwa-emulator')")
            try save(name, try await browser.screenshot())
        }
    }

    private func save(_ name: String, _ picture: [UInt8]) throws {
        let path = "\(try #require(folder))/\(name).png"
        let file = try #require(fopen(path, "w"), "\(path)")
        defer { fclose(file) }
        #expect(fwrite(picture, 1, picture.count, file) == picture.count)
    }
}
