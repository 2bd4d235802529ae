package import SignInWithApple

/// A headless Chromium with one page, driven as a person would: by what is written on it.
package final class Browser: Sendable {
    /// Chromium, where it is installed (`make test-browser` installs it).
    package static let executable = Executable.installed("chromium")

    private let folder: TemporaryFolder
    private let program: RunningProgram
    private let tools: DevTools
    private let session: String

    /// Starts it with a fresh profile.
    package init() async throws {
        guard let executable = Self.executable else { throw BrowserFailure("not installed") }
        folder = try TemporaryFolder()
        let commands = try Descriptor.pipe()
        let messages = try Descriptor.pipe()
        program = try executable.start(
            Executable.Call(
                [
                    // Its sandbox refuses to run as root; the only pages it sees are ours.
                    "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu",
                    "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                    "--user-data-dir=\(folder.path("profile"))", "about:blank",
                ],
                environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin"],
                limit: .seconds(300)),
            passing: [commands.read, messages.write])
        tools = try DevTools(commands: commands.write, messages: messages.read)
        let target = try await tools.call("Target.createTarget", ["url": "about:blank"])
        let attached = try await tools.call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? .null, "flatten": true])
        session = attached["sessionId"]?.string ?? ""
        // A telephone.
        try await page(
            "Emulation.setDeviceMetricsOverride",
            ["width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": true])
    }

    deinit { program.signal(9) }

    /// Opens a page.
    package func open(_ url: String) async throws {
        try await page("Page.navigate", ["url": .string(url)])
    }

    /// Lets pages run scripts, or not.
    package func allowScripts(_ isAllowed: Bool) async throws {
        try await page("Emulation.setScriptExecutionDisabled", ["value": .boolean(!isAllowed)])
    }

    /// Clicks the label or button that bears this text, with the mouse and in the middle.
    package func click(_ text: String) async throws {
        let place = try await value(
            """
            (() => {
              const all = [...document.querySelectorAll("label, button")];
              const found = all.find(e => e.innerText.includes(\(JSON.string(text).text)));
              if (!found) return null;
              found.scrollIntoView({ block: "center" });
              const box = found.getBoundingClientRect();
              return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
            })()
            """)
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

    /// Waits until a JavaScript expression is true on the page, which may be another one by then.
    package func wait(until condition: String) async throws {
        try await eventually("'\(condition)' in the browser") {
            (try? await self.value(condition)) == true
        }
    }

    /// What a JavaScript expression is worth on the page.
    package func value(_ expression: String) async throws -> JSON {
        let answer = try await page(
            "Runtime.evaluate", ["expression": .string(expression), "returnByValue": true])
        if let exception = answer["exceptionDetails"] { throw BrowserFailure(exception.text) }
        return answer["result"]?["value"] ?? .null
    }

    /// What a screen reader is told: the role and the name of everything on the page.
    package func accessibleNames() async throws -> [(role: String, name: String)] {
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
