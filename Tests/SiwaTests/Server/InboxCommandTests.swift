import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import SIWATestSupport
import Testing

/// `siwa inbox` and `siwa revocations`, beside a server that cannot deliver or reach Apple.
@Suite(.blocking) struct InboxCommandTests {
    @Test(arguments: VaultBackend.available)
    func `an event that waits behind another one says so`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        // A port without a listener.
        try fixture.deliver(to: "http://127.0.0.1:1/")
        let server = try await fixture.serve()
        for type in ["email-disabled", "email-enabled"] {
            let statuses = try await fixture.notify(type, at: try server.notificationURL)
            #expect(statuses == ["200": 1])
        }
        let events = try await fixture.inbox()
        func id(_ type: String) throws -> String {
            try #require(events.first { $0["type"]?.string == type }?["jti"]?.string)
        }
        let (first, second) = (try id("email-disabled"), try id("email-enabled"))
        try await eventually("the first one has failed") {
            let shown = try await fixture.siwa("inbox", "show", "--", first).json
            return shown["last_error"]?.string?.hasPrefix("connect") == true
        }
        let waiting = try await fixture.siwa(
            "inbox", "show", "--print", "last_error", "--", second)
        #expect(waiting.exitCode == 0, "\(waiting)")
        #expect(
            waiting.output
                == "it waits behind the event \(first) of the same user, which is sent first\n")
        let page = try await server.call("metrics", "GET", "/").body
        #expect(page.contains("1 waits after") && !page.contains("undelivered"))
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `an operator lists, replays, discards and erases events`(_ backend: VaultBackend)
        async throws
    {
        let fixture = try await ServerFixture(backend)
        // A port without a listener.
        try fixture.deliver(to: "http://127.0.0.1:1/")
        let server = try await fixture.serve()
        for user in 1...3 {
            let statuses = try await fixture.notify(
                "email-disabled", of: user, at: try server.notificationURL)
            #expect(statuses == ["200": 1])
        }
        try await eventually("all were tried") {
            try await fixture.inbox().allSatisfy { ($0["attempts"]?.integer ?? 0) > 0 }
        }
        #expect(try await server.stop().ending == .exit(0))
        let listed = try await fixture.inbox()
        #expect(listed.map { $0["state"] } == ["pending", "pending", "pending"])
        let ids = listed.compactMap { $0["jti"]?.string }
        let pending = try await fixture.siwa("inbox", "list", "--state", "pending")
        #expect(pending.output.split(separator: "\n").count == 4)
        let width = EventType.allCases.map(\.rawValue.count).max() ?? 0
        let type = "TYPE".padding(toLength: width, withPad: " ", startingAt: 0)
        #expect(pending.output.contains("\(type)  USER"), "\(pending.output)")

        let shown = try await fixture.siwa("inbox", "show", "--", ids[0]).json
        #expect(shown["last_error"]?.string?.hasPrefix("connect") == true)
        #expect(shown["event"]?["jti"]?.string == ids[0])
        #expect(try await fixture.siwa("inbox", "show", "odd").exitCode == 1)

        let discarded = try await fixture.siwa("inbox", "discard", "--", ids[0])
        #expect(try discarded.json["discarded"] == true)
        #expect(try await fixture.siwa("inbox", "discard", "--", ids[0]).exitCode == 1)

        let user = try #require(listed[1]["user_id"]?.string)
        let forgotten = try await fixture.siwa("inbox", "forget", user).json
        #expect(forgotten["erased"] == 1)
        let erased = try await fixture.siwa("inbox", "show", "--", ids[1]).json
        #expect(erased["event"] == .null && erased["state"] == "discarded")

        let replayed = try await fixture.siwa("inbox", "replay", "--", ids[0])
        #expect(try replayed.json["replayed"] == 1)
        let again = try await fixture.siwa("inbox", "show", "--", ids[0]).json
        #expect(again["state"] == "pending" && again["attempts"] == 0)
        let none = try await fixture.siwa("inbox", "replay", "--", ids[1])
        #expect(none.exitCode == 1)
        #expect(try await fixture.siwa("inbox", "replay", "--state", "dead").json["replayed"] == 0)
    }

    @Test func `events without a target are not replayed`() async throws {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        _ = try await fixture.notify("email-disabled", at: try server.notificationURL)
        _ = try await server.stop()
        let id = try #require(try await fixture.inbox().first?["jti"]?.string)
        for arguments in [["--state", "none"], ["--", id], ["odd", "--", id]] {
            let refused = try await fixture.apple.siwa(
                ["inbox", "replay"] + arguments, environment: fixture.vault.environment)
            #expect(refused.exitCode == 3 && refused.errors.contains("deliver"), "\(refused)")
        }
        // Ends of revocations that are only kept have no address either.
        try fixture.configure(
            fixture.listeners + [.init("deliver", ["revocations": true])])
        let kept = try await fixture.apple.siwa(
            ["inbox", "replay", "--state", "none"], environment: fixture.environment)
        #expect(kept.exitCode == 3 && kept.errors.contains("deliver.url"), "\(kept)")
        #expect(try await fixture.inbox().map { $0["state"] } == ["none"])
        // Where the server delivers, they can be.
        try fixture.deliver(to: "http://127.0.0.1:1/")
        let replayed = try await fixture.apple.siwa(
            ["inbox", "replay", "--state", "none"], environment: fixture.environment)
        #expect(try replayed.json["replayed"] == 1, "\(replayed)")
    }

    @Test(arguments: VaultBackend.available)
    func `replayed events are delivered with the same id`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        try await RawServer.serving([.readRequest, .answer(200), .again]) { application in
            try fixture.deliver(to: application.url + "/events")
            let server = try await fixture.serve()
            _ = try await fixture.notify(
                "account-delete", at: try server.notificationURL, [.init("copies", 3)])
            func state() async throws -> String? {
                try await fixture.inbox().first?["state"]?.string
            }
            try await eventually("it is delivered") { try await state() == "done" }
            let id = try #require(try await fixture.inbox().first?["jti"]?.string)
            #expect(application.requests.map { $0["webhook-id"] } == [id])
            let replayed = try await fixture.siwa("inbox", "replay", "--", id)
            #expect(try replayed.json["replayed"] == 1)
            try await eventually("it is delivered again") {
                try await state() == "done" && application.requests.count == 2
            }
            #expect(Set(application.requests.map { $0["webhook-id"] }) == [id])
            #expect(Set(application.requests.map(\.body)).count == 1)
        }
    }

    @Test(arguments: VaultBackend.available)
    func `an operator lists and retries revocations`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1])
        let server = try await fixture.serve(fixture.listeners)
        try await fixture.apple.post("faults", ["status": 503, "count": 1_000_000])
        let user = fixture.vault.people.userID(1)
        let ordered = try await server.api(
            "POST", "/v1/revoke", ["user_id": .string(user), "wait": 1])
        let id = try #require(try ordered.json["revocation_id"]?.string)
        let line = try await fixture.siwa("revocations", "list", "--state", "pending", "--json")
        let listed = try #require(try line.json["revocations"]?.elements?.first)
        #expect(listed["revocation_id"]?.string == id && listed["user_id"]?.string == user)
        #expect(listed["last_error"]?.string?.contains("503") == true)
        #expect(try await fixture.siwa("revocations", "retry", "odd").exitCode == 1)
        let retried = try await fixture.siwa("revocations", "retry", id)
        #expect(try retried.json["state"] == "pending", "\(retried)")
        // The server may be quicker than the operator from here on.
        try await fixture.apple.post("faults/clear")
        _ = try await fixture.siwa("revocations", "retry", id)
        try await eventually("it is revoked") {
            try await server.api("GET", "/v1/revocations/\(id)").json["state"] == "revoked"
        }
        let table = try await fixture.siwa("revocations", "list", "--state", "revoked")
        #expect(!table.output.contains("503") && table.output.contains(id), "\(table)")
        let ended = try await fixture.siwa("revocations", "retry", id)
        #expect(ended.exitCode == 1 && ended.errors.contains("revoked"))
    }
}

extension ServerFixture {
    /// Configures the usual listeners, and deliveries to a URL.
    func deliver(to url: String, _ more: [JSON.Member] = []) throws {
        try apple.folder.write(
            "apple/webhook.secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        try configure(
            listeners + more + [
                .init("deliver", ["url": .string(url), "secret_file": "webhook.secret"])
            ])
    }

    /// Runs `siwa` on the vault.
    func siwa(_ arguments: String...) async throws -> ProgramResult {
        try await apple.siwa(arguments, environment: vault.environment)
    }
}
