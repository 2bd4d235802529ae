internal import SIWAJOSE
internal import SIWALifecycle

/// The stream of the console's changes to one browser, as server-sent events (WHATWG HTML §9.2).
///
/// It remembers what was sent and has no queue: changes are determined when the browser has
/// received the earlier ones, so that a browser that does not read needs no memory.
package struct ConsoleEvents: Sendable {
    let emulator: AppleEmulator
    let view: ConsoleView
    /// The instance of the emulator whose requests the browser knows.
    var instance: String
    /// The number of the latest request that the browser knows.
    var last: Int
    /// Each panel as it was last sent.
    var panels: [ConsolePanel: String] = [:]
    var hasBegun = false

    /// The longest time without an event: a write is how a closed connection is detected.
    static let heartbeat = Duration.seconds(10)
    /// The shortest time between two events: all changes in it are sent together.
    static let pace = Duration.milliseconds(100)
    /// The most requests in one event; the browser shows the latest.
    static let rows = 50

    /// The next events, after waiting for them; nil if the task is cancelled.
    package mutating func next() async -> [UInt8]? {
        if hasBegun { try? await Task.sleep(for: Self.pace) }
        hasBegun = true
        guard !Task.isCancelled else { return nil }
        let seen = emulator.changes.count
        var events = await emulator.unsentEvents(for: &self)
        if events.isEmpty {
            await emulator.changes.wait(after: seen, atMost: Self.heartbeat)
            events = await emulator.unsentEvents(for: &self)
        }
        guard !Task.isCancelled else { return nil }
        return Array((events.isEmpty ? ": heartbeat\n\n" : events).utf8)
    }
}

extension AppleEmulator {
    /// Opens a stream of events, beginning after the last one that the browser received.
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
            events: ConsoleEvents(
                emulator: self, view: view, instance: view.instance ?? instance, last: last))
    }

    /// What has changed since the last event of this stream.
    fileprivate func unsentEvents(for events: inout ConsoleEvents) -> String {
        var text = ""
        if events.instance != instance {
            // Request numbers start again. The token of a page from an earlier start is no longer
            // valid either.
            text += Self.event(events.panels.isEmpty ? "reload" : "reset", [:], id: 0)
            (events.instance, events.last) = (instance, 0)
        }
        let search = events.view.requestSearch
        let records = log.newest(ConsoleEvents.rows, after: events.last, containing: search)
        if !records.isEmpty {
            let rows = records.map { RequestRow(record: $0, search: search).html.source }.joined()
            text += Self.event("requests", ["html": .string(rows)], id: log.count)
        }
        events.last = log.count
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

    /// JSON on one line contains no line end, so that no data can look like another event.
    private static func event(_ name: String, _ data: JSON, id: Int? = nil) -> String {
        "event: \(name)\n\(id.map { "id: \($0)\n" } ?? "")data: \(data.text)\n\n"
    }
}
