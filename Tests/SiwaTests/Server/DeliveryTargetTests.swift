import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Applications that do not answer deliveries as they should.
@Suite(.blocking) struct DeliveryTargetTests {
    @Test func `a target that does not answer one event does not delay the others`() async throws {
        let fixture = try await ServerFixture()
        try await RawServer.serving(script: {
            $0 == 0 ? [.hold] : [.readRequest, .answer(200), .again]
        }) { application in
            try fixture.deliver(to: application.url + "/events")
            let server = try await fixture.serve()
            for user in 1...3 {
                let statuses = try await fixture.notify(
                    "email-disabled", of: user, at: try server.notificationURL)
                #expect(statuses == ["200": 1])
                try await eventually("it was sent") { application.connectionCount > 0 }
            }
            try await eventually("the others are delivered") {
                try await fixture.inbox().count { $0["state"] == "done" } == 2
            }
            let waiting = try await fixture.inbox().filter { $0["state"] == "pending" }
            #expect(waiting.count == 1)
            // The silent attempt ends after 15 seconds.
            try await eventually("all are delivered") {
                try await fixture.inbox().allSatisfy { $0["state"] == "done" }
            }
            #expect(try await server.stop().ending == .exit(0))
        }
    }

    @Test func `a response of a gigabyte is not read, and its status counts`() async throws {
        let fixture = try await ServerFixture()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(1 << 30)\r\n\r\n"
        let junk = [UInt8](repeating: 0x61, count: 65_536)
        try await RawServer.serving([.readRequest, .write(head), .stream(junk)]) { application in
            try fixture.deliver(to: application.url + "/events")
            let server = try await fixture.serve()
            for user in 1...3 {
                _ = try await fixture.notify(
                    "email-disabled", of: user, at: try server.notificationURL)
            }
            try await eventually("all are delivered") {
                let inbox = try await fixture.inbox()
                return inbox.count == 3 && inbox.allSatisfy { $0["state"] == "done" }
            }
            // What the system's buffers hold was sent, too.
            #expect(application.sentCount < 3 * (16 << 20), "\(application.sentCount) bytes")
        }
    }

    @Test func `a redirect is not followed`() async throws {
        let fixture = try await ServerFixture()
        try await RawServer.serving([.readRequest, .answer(200), .again]) { elsewhere in
            let moved = Step.answer(308, fields: ["Location: \(elsewhere.url)/"])
            try await RawServer.serving([.readRequest, moved, .again]) { application in
                try fixture.deliver(to: application.url + "/events")
                let server = try await fixture.serve()
                _ = try await fixture.notify("email-disabled", at: try server.notificationURL)
                // An attempt is counted when it begins; its answer is noted when it ends.
                try await eventually("it was tried again") {
                    try await fixture.inbox().first?["attempts"]?.integer ?? 0 > 1
                }
                let event = try #require(try await fixture.inbox().first)
                #expect(event["state"] == "pending")
                let id = try #require(event["jti"]?.string)
                let shown = try await fixture.siwa("inbox", "show", "--", id)
                #expect(
                    try shown.json["last_error"]
                        == "the application answered 308, a redirect, which is not followed")
                #expect(elsewhere.connectionCount == 0)
            }
        }
    }
}
