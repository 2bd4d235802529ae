import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The stream of the console's changes, without a socket.
@Suite struct ConsoleEventsTests {
    /// One server-sent event.
    struct Event {
        let name: String
        let id: Int?
        let data: JSON

        /// Reads events as a browser does (WHATWG HTML §9.2.6).
        static func all(in bytes: [UInt8]?) throws -> [Event] {
            let text = String(decoding: try #require(bytes), as: UTF8.self)
            return try text.split(separator: "\n\n").filter { !$0.hasPrefix(":") }.map { block in
                var fields: [Substring: Substring] = [:]
                for line in block.split(separator: "\n") {
                    let colon = try #require(line.firstIndex(of: ":"))
                    fields[line[..<colon]] = line[colon...].dropFirst(2)
                }
                return Event(
                    name: String(try #require(fields["event"])),
                    id: fields["id"].flatMap { Int($0) },
                    data: try JSON(text: String(try #require(fields["data"]))))
            }
        }
    }

    @Test
    func `the first event has every panel, and the next one a refused request with its reason`()
        async throws
    {
        let harness = try await EmulatorHarness()
        var stream = try await harness.events()
        let first = try Event.all(in: await stream.next())
        #expect(
            first.map { $0.data["panel"]?.string } == [
                "status", "clock", "faults", "people", "user_choices", "sessions", "clients",
                "switches", "notifications", "history",
            ])
        _ = await harness.post("/auth/token", [("grant_type", "password")])
        let second = try Event.all(in: await stream.next())
        let rows = try #require(second.first { $0.name == "requests" })
        #expect(rows.id == 1)
        #expect(try rows.data.text("html").contains("400 unsupported_grant_type"))
        #expect(try rows.data.text("html").contains("grant_type: "))
        #expect(second.filter { $0.name == "panel" }.map { $0.data["panel"] } == ["status"])
    }

    @Test func `a browser that reconnects gets the latest 50 requests in one event`() async throws {
        let harness = try await EmulatorHarness()
        var stream = try await harness.events()
        _ = await stream.next()
        for _ in 0..<1000 { _ = await harness.get("/auth/keys") }
        let events = try Event.all(in: await stream.next()).filter { $0.name == "requests" }
        #expect(events.map(\.id) == [1000])
        let html = try #require(try events.first?.data.text("html"))
        #expect(html.matches(of: /<li id="request-/).count == 50)
        #expect(html.hasPrefix(#"<li id="request-1000""#))
    }

    @Test func `a search limits the requests of the stream, and none comes twice`() async throws {
        let harness = try await EmulatorHarness()
        var stream = try await harness.events("after=0&find=configuration")
        _ = await stream.next()
        for _ in 1...3 { _ = await harness.get("/auth/keys") }
        _ = await harness.get("/.well-known/openid-configuration")
        let text = try #require(await stream.next().map { String(decoding: $0, as: UTF8.self) })
        #expect(text.contains("request-4") && !text.contains("request-3"))
        _ = await harness.get("/.well-known/openid-configuration")
        let next = try #require(await stream.next().map { String(decoding: $0, as: UTF8.self) })
        #expect(next.contains("request-5") && !next.contains("request-4"))
    }

    @Test func `a stream continues at the last event that the browser received`() async throws {
        let harness = try await EmulatorHarness()
        for _ in 0..<3 { _ = await harness.get("/auth/keys") }
        for (query, field) in [("after=2", nil), ("after=0", HTTPField("Last-Event-ID", "2"))] {
            var stream = try await harness.events(query, field)
            let events = try Event.all(in: await stream.next())
            let rows = try #require(events.first { $0.name == "requests" })
            #expect(try rows.data.text("html").hasPrefix(#"<li id="request-3""#))
            #expect(try rows.data.text("html").matches(of: /<li id/).count == 1)
        }
    }

    @Test func `a reset empties the page, and a restart of the emulator reloads it`() async throws {
        let harness = try await EmulatorHarness()
        let instance = try await harness.control("requests").text("instance")
        var stream = try await harness.events("after=0&instance=\(instance)")
        #expect(try Event.all(in: await stream.next()).allSatisfy { $0.name == "panel" })
        _ = await harness.get("/auth/keys")
        _ = await stream.next()
        try await harness.control("reset")
        _ = await harness.get("/auth/keys")
        let after = try Event.all(in: await stream.next())
        #expect(after.prefix(2).map(\.name) == ["reset", "requests"] && after[1].id == 1)
        var stale = try await harness.events("after=7&instance=\(instance)")
        #expect(try Event.all(in: await stale.next()).first?.name == "reload")
    }

    @Test func `a change updates the panel that shows it`() async throws {
        let harness = try await EmulatorHarness()
        var stream = try await harness.events()
        _ = await stream.next()
        try await harness.control("faults", ["status": 503])
        let panels = try Event.all(in: await stream.next()).map { $0.data["panel"]?.string }
        #expect(panels == ["status", "faults", "history"])
    }

    @Test func `cancelling a task ends its stream`() async throws {
        let harness = try await EmulatorHarness()
        let reading = Task {
            var stream = try await harness.events()
            while await stream.next() != nil {}
        }
        reading.cancel()
        try await reading.value
    }

    @Test func `a page of another origin cannot read the events`() async throws {
        let harness = try await EmulatorHarness()
        for site in ["cross-site", "same-site"] {
            let reply = await harness.emulator.respond(
                to: EmulatorRequest(
                    method: "GET", target: "/emulator/events",
                    fields: [
                        HTTPField("Host", EmulatorHarness.consoleHost),
                        HTTPField("Sec-Fetch-Site", site),
                    ]))
            #expect(reply.response.status == 403 && reply.events == nil)
        }
    }
}

extension EmulatorHarness {
    /// Opens a stream as the console's page does.
    fileprivate func events(
        _ query: String = "after=0", _ field: HTTPField? = nil
    ) async throws -> ConsoleEvents {
        let reply = await emulator.respond(
            to: EmulatorRequest(
                method: "GET", target: "/emulator/events?\(query)",
                fields: [
                    HTTPField("Host", Self.consoleHost), HTTPField("Sec-Fetch-Site", "same-origin"),
                ] + (field.map { [$0] } ?? [])))
        #expect(reply.response.fields["content-type"] == "text/event-stream")
        return try #require(reply.events)
    }
}
