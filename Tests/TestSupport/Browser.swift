package import SIWAJOSE

/// A page in a headless Chromium, controlled by the texts on it.
///
/// It has its own profile, without the cookies, caches and settings of other pages.
package final class Browser: Sendable {
    /// Chromium, where it is installed (`make test-browser` installs it).
    package static let executable = Executable.installed("chromium")

    private let process: BrowserProcess
    private let tools: DevTools
    private let profile: JSON
    private let session: String

    /// Opens an empty page with a fresh profile.
    package init() async throws {
        process = try await BrowserProcess.shared()
        tools = process.tools
        profile = try await tools.call("Target.createBrowserContext")["browserContextId"] ?? .null
        let target = try await tools.call(
            "Target.createTarget", ["url": "about:blank", "browserContextId": profile])
        let attached = try await tools.call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? .null, "flatten": true])
        session = attached["sessionId"]?.string ?? ""
        for domain in ["Log", "Runtime", "Audits"] { try await page("\(domain).enable") }
        // The size of a phone.
        try await show(width: 360, height: 640)
    }

    deinit {
        // Closes the page as well.
        tools.send("Target.disposeBrowserContext", ["browserContextId": profile])
        tools.forget(session)
        process.giveBack()
    }

    /// Opens a page.
    package func open(_ url: String) async throws {
        try await page("Page.navigate", ["url": .string(url)])
    }

    /// Sets the size of the window in CSS pixels; up to 480 pixels are a telephone.
    package func show(width: Int, height: Int) async throws {
        try await page(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(width), "height": .integer(height), "deviceScaleFactor": 1,
                "mobile": .boolean(width <= 480),
            ])
    }

    /// Sets whether the person prefers dark pages.
    package func prefer(dark: Bool) async throws {
        let scheme: JSON = ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]
        try await page("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    /// What the window shows, as PNG.
    package func screenshot() async throws -> [UInt8] {
        let answer = try await page("Page.captureScreenshot", ["format": "png"])
        guard let text = answer["data"]?.string else { throw BrowserFailure("no screenshot") }
        let url = text.replacing("+", with: "-").replacing("/", with: "_")
        return try Base64URL.decode(String(url.prefix { $0 != "=" }))
    }

    /// Errors and warnings of all pages so far: exceptions, messages of the console, resources that
    /// failed, violations of a Content-Security-Policy and other issues.
    package var problems: [String] {
        let logged = tools.events("Log.entryAdded", in: session).compactMap { $0["entry"] }
            .filter { $0["level"] == "error" || $0["level"] == "warning" }
        let called = tools.events("Runtime.consoleAPICalled", in: session)
            .filter { $0["type"] == "error" || $0["type"] == "warning" }
        let thrown = tools.events("Runtime.exceptionThrown", in: session)
        // A page that a script opened before anybody touched it: only the button "back" skips it.
        let issues = tools.events("Audits.issueAdded", in: session)
            .filter { !$0.text.contains("NavigationEntryMarkedSkippable") }
        return (logged + called + thrown + issues).map(\.text)
    }

    /// Lets pages run scripts, or not.
    package func allowScripts(_ isAllowed: Bool) async throws {
        try await page("Emulation.setScriptExecutionDisabled", ["value": .boolean(!isAllowed)])
    }

    /// Clicks the label, button, link or summary with this text, with the mouse and in the middle.
    ///
    /// Waits for it first, until it is twice in the same place: while the page is loading, what is above
    /// it may still grow, and the click would miss it.
    package func click(_ text: String) async throws {
        var place = JSON.null
        try await eventually("'\(text)' in one place in the browser") {
            let before = place
            place = (try? await self.place(of: text)) ?? .null
            return place != .null && place == before
        }
        guard let x = place["x"], let y = place["y"] else {
            throw BrowserFailure("nothing to click on says '\(text)'")
        }
        for type in ["mousePressed", "mouseReleased"] {
            try await page(
                "Input.dispatchMouseEvent",
                [
                    "type": .string(type), "x": x, "y": y, "button": "left", "clickCount": 1,
                ])
        }
    }

    /// The middle of the first label, button, link or summary with this text, after scrolling to it;
    /// null if there is none.
    private func place(of text: String) async throws -> JSON {
        try await value(
            """
            (() => {
              const all = [...document.querySelectorAll("label, button, a, summary")];
              const found = all.find(e => e.innerText.includes(\(JSON.string(text).text)));
              if (!found) return null;
              found.scrollIntoView({ block: "center" });
              const box = found.getBoundingClientRect();
              return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
            })()
            """)
    }

    /// Presses `Tab`, `Enter` or `ArrowDown`.
    package func press(_ key: String) async throws {
        let text = key == "Enter" ? "\r" : ""
        for type in ["keyDown", "keyUp"] {
            try await page(
                "Input.dispatchKeyEvent",
                [
                    "type": .string(type), "key": .string(key), "code": .string(key),
                    "text": .string(type == "keyDown" ? text : ""),
                    "windowsVirtualKeyCode": .integer(
                        ["Tab": 9, "Enter": 13, "ArrowDown": 40][key] ?? 0),
                ])
        }
    }

    /// Waits until a JavaScript expression is true on the page, which may be another one by then.
    package func wait(until condition: String) async throws {
        try await eventually("'\(condition)' in the browser") {
            (try? await self.value(condition)) == true
        }
    }

    /// Runs a script on the page, beside the page's own policy.
    package func run(_ script: String) async throws {
        _ = try await value("(() => { \(script) })()")
    }

    /// The value of a JavaScript expression on the page.
    package func value(_ expression: String) async throws -> JSON {
        let answer = try await page(
            "Runtime.evaluate", ["expression": .string(expression), "returnByValue": true])
        if let exception = answer["exceptionDetails"] { throw BrowserFailure(exception.text) }
        return answer["result"]?["value"] ?? .null
    }

    /// The accessibility tree: the role and the name of everything on the page.
    ///
    /// Chromium computes them after the page is loaded, piece by piece: they are complete when two
    /// readings are equal.
    package func accessibleNames() async throws -> [(role: String, name: String)] {
        try await wait(until: "document.readyState == 'complete'")
        var names = try await accessibleNamesSoFar()
        try await eventually("the same names twice") {
            try await Task.sleep(for: .milliseconds(100))
            let before = names
            names = try await accessibleNamesSoFar()
            return names.count > 1 && names.elementsEqual(before) { $0 == $1 }
        }
        return names
    }

    private func accessibleNamesSoFar() async throws -> [(role: String, name: String)] {
        let tree = try await page("Accessibility.getFullAXTree")
        return (tree["nodes"]?.elements ?? []).filter { $0["ignored"] != true }.map {
            ($0["role"]?["value"]?.string ?? "", $0["name"]?["value"]?.string ?? "")
        }
    }

    @discardableResult
    private func page(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await tools.call(method, parameters, in: session)
    }
}
