internal import SignInWithApple

/// The news of the console for one browser, as server-sent events (WHATWG HTML §9.2).
///
/// It keeps what it has said, and nothing that waits: what is new is found when the browser is
/// ready for it, so that a browser that does not read costs nothing.
public struct ConsoleEvents: Sendable {
    let emulator: AppleEmulator
    let view: ConsoleView
    /// The number of the latest request the browser knows.
    var last: Int
    /// What each panel was when it was sent.
    var panels: [ConsolePanel: String] = [:]
    var hasBegun = false

    /// A comment, so that a connection that is gone is noticed.
    static let heartbeat = Duration.seconds(10)
    /// News of this time are one event.
    static let pace = Duration.milliseconds(100)
    /// The browser gets no more requests at once: it shows the latest.
    static let rows = 50

    /// The next events: waits until there are some; nil when the task is cancelled.
    public mutating func next() async -> [UInt8]? {
        if hasBegun { try? await Task.sleep(for: Self.pace) }
        hasBegun = true
        guard !Task.isCancelled else { return nil }
        var events = await emulator.news(for: &self)
        if events.isEmpty {
            await emulator.waitForChange(atMost: Self.heartbeat)
            events = await emulator.news(for: &self)
        }
        guard !Task.isCancelled else { return nil }
        return Array((events.isEmpty ? ": still here\n\n" : events).utf8)
    }
}

extension AppleEmulator {
    /// Opens a stream of events, from where the browser was.
    func events(for request: EmulatorRequest, _ requestID: String) throws(ControlError)
        -> EmulatorReply
    {
        let view = try ConsoleView(request)
        let last = request.fields["last-event-id"].flatMap { Int($0) } ?? view.lastRequest
        let page = Page(
            status: 200,
            fields: [
                HTTPField("Content-Type", "text/event-stream"),
                HTTPField("Cache-Control", "no-store"),
                HTTPField("X-Content-Type-Options", "nosniff"),
            ], body: [])
        return EmulatorReply(
            respond(with: page, requestID),
            events: ConsoleEvents(emulator: self, view: view, last: last))
    }

    /// What has happened since `events` last said something.
    fileprivate func news(for events: inout ConsoleEvents) -> String {
        var text = ""
        if log.count < events.last {
            // A reset: numbers begin anew.
            events.last = 0
            text += Self.event("reset", [:], id: 0)
        }
        let records = log.newest(ConsoleEvents.rows, after: events.last)
        if !records.isEmpty {
            let rows = records.map { RequestRow(record: $0).html.source }.joined()
            text += Self.event("requests", ["html": .string(rows)], id: log.count)
            events.last = log.count
        }
        let state = consoleState("")
        for panel in ConsolePanel.allCases {
            let html = panel.html(state, events.view).source
            guard events.panels[panel] != html else { continue }
            events.panels[panel] = html
            text += Self.event(
                "panel", ["panel": .string(panel.rawValue), "html": .string(html)])
        }
        return text
    }

    /// JSON has no line ends of its own, so that no data can look like another event.
    private static func event(_ name: String, _ data: JSON, id: Int? = nil) -> String {
        "event: \(name)\n\(id.map { "id: \($0)\n" } ?? "")data: \(data.text)\n\n"
    }
}
