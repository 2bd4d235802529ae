import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWAEmulator

/// Many notifications at once: how they are scheduled, and what is written down of each.
@Suite struct NotificationLoadTests {
    private static let url = "http://127.0.0.1:8000/apple"

    @Test func `count sends an event for each user in turn, and the response counts the attempts`()
        async throws
    {
        let receiver = Receiver(200, 503, 200, nil)
        let harness = try await EmulatorHarness(posting: receiver)
        let answer = try await harness.control(
            "notifications",
            [
                "type": "email-disabled", "user": "bob", "count": 5, "attempts": 1,
                "url": .string(Self.url),
            ])
        #expect(
            answer == [
                "first": 1, "last": 5, "attempts": ["200": 3, "503": 1, "timeout": 1],
            ])
        let sent = try await harness.sent()
        #expect(sent.map { $0["user"] } == ["bob", "carol", "alice", "bob", "carol"])
        #expect(Set(sent.compactMap { $0["jti"]?.string }).count == 5)
        for notification in sent {
            let attempts = try #require(notification["attempts"]?.elements)
            #expect(
                attempts.count == 1 && attempts[0]["at"] == .string(EmulatorHarness.start.rfc3339))
            #expect(notification["pending"] == 0 && notification["url"] == .string(Self.url))
            _ = try await harness.verified(notification.text("payload"))
        }
        #expect(sent.filter { $0["attempts"]?.elements?[0]["status"] == 200 }.count == 3)
        #expect(Set(receiver.requests.map { $0.body.revealed() }).count == 5)
    }

    @Test func `copies are equal byte for byte, and each attempt is logged`() async throws {
        let receiver = Receiver()
        let harness = try await EmulatorHarness(posting: receiver)
        try await harness.control(
            "notifications", ["type": "x", "copies": 40, "url": .string(Self.url)])
        try await harness.control("notifications/resend", ["number": 1, "copies": 60])
        #expect(receiver.requests.count == 100)
        #expect(Set(receiver.requests.map { $0.body.revealed() }).count == 1)
        #expect(try await harness.sent()[0]["attempts"]?.elements?.count == 100)
        #expect(await harness.look().text.contains("<span class=\"badge ok\">200 × 100</span>"))
    }

    @Test func `an attempt names its delivery, and a reset cancels waiting deliveries`()
        async throws
    {
        let harness = try await EmulatorHarness(posting: Receiver(503, 200, 200, nil))
        try await harness.control(
            "notifications", ["type": "x", "copies": 2, "attempts": 2, "url": .string(Self.url)])
        try await harness.control("notifications/resend", ["number": 1])
        let attempts = try #require(try await harness.sent()[0]["attempts"]?.elements)
        let deliveries = attempts.compactMap { $0["delivery"]?.integer }
        #expect(deliveries.sorted() == [1, 1, 2, 3] || deliveries.sorted() == [1, 2, 2, 3])
        #expect(attempts.last?["delivery"] == 3 && attempts.last?["error"] != nil)

        let receiver = Receiver()
        let other = try await EmulatorHarness(posting: receiver)
        try await other.control(
            "notifications",
            [
                "type": "x", "count": 3, "delay": "1h", "wait": false, "url": .string(Self.url),
            ])
        try await other.control("reset")
        try await other.control("notifications", ["type": "y", "url": .string(Self.url)])
        let sent = try await other.sent()
        #expect(sent.map { $0["type"] } == ["y"] && sent.first?["pending"] == 0)
        #expect(sent.first?["attempts"]?.elements?.count == 1)
    }

    @Test func `a rate of 1,000 a second starts a delivery every millisecond`() async throws {
        let receiver = Receiver()
        let harness = try await EmulatorHarness(posting: receiver)
        try await harness.control(
            "notifications",
            ["type": "x", "copies": 2, "count": 500, "rate": 1000, "url": .string(Self.url)])
        // On the receiver's clock no time passes: each wait is the delivery's whole start.
        #expect(receiver.waits == (1..<1000).map { .milliseconds($0) })
        #expect(receiver.requests.count == 1000)
    }

    @Test(arguments: [0, 1, 250, 10_000])
    func `jitter delays each delivery reproducibly and changes the order`(
        _ jitter: Int
    ) throws {
        let plan = try plan(["rate": 1000, "delay": "5s", "jitter": .string("\(jitter)ms")])
        let deliveries = Self.deliveries(plan, 100)
        let number = deliveries.map(\.number)
        #expect(number.sorted() == (1...100).flatMap { [$0, $0, $0] })
        #expect((number == number.sorted()) == (jitter < 2), "seed 0: \(number)")
        #expect(deliveries.map(\.start) == deliveries.map(\.start).sorted())
        let latest = Duration.milliseconds(5000 + 299 + jitter)
        #expect(deliveries.allSatisfy { (.seconds(5)...latest).contains($0.start) })
        #expect(Self.deliveries(plan, 100).map(\.start) == deliveries.map(\.start))
    }

    @Test func `a slow receiver gets at most 256 requests at once`() async throws {
        let receiver = SlowReceiver()
        let sender = WebhookSender(transport: receiver, timekeeper: .system)
        let made = await sender.send(
            Self.deliveries(try plan([:]), 200), attempts: 1, noting: { _, _ in })
        #expect(made.count == 600 && receiver.most == 256)
    }

    @Test(arguments: [
        (#"{"type":"x","copies":0}"#, "'copies' must be 1 to 10000"),
        (#"{"type":"x","copies":10001}"#, "'copies' must be 1 to 10000"),
        (#"{"type":"x","rate":0}"#, "'rate' 1 to 100000"),
        (#"{"type":"x","count":0}"#, "'count' times 'copies' must be 1 to 10000"),
        (#"{"type":"x","count":101,"copies":100}"#, "'count' times 'copies'"),
        (#"{"type":"x","jitter":"2h"}"#, "'jitter' at most an hour"),
        (#"{"type":"x","delay":-1}"#, "'delay' and 'jitter' at most an hour"),
        (#"{"type":"x","count":9223372036854775807}"#, "'count' times 'copies'"),
    ])
    func `an invalid request is refused and has no effect`(
        _ body: String, _ told: String
    ) async throws {
        let harness = try await EmulatorHarness(posting: Receiver())
        let error = await #expect(throws: ShapeError.self) {
            try await harness.control("notifications", try JSON(text: body))
        }
        let description = error?.description ?? ""
        #expect(description.contains(told), "\(description)")
        #expect(try await harness.sent().isEmpty)
    }

    @Test func `pages of both logs are below 1 MiB and have every row once`() async throws {
        let harness = try await EmulatorHarness()
        try await harness.control("notifications", ["type": "x", "count": 2500])
        let long = String(repeating: "n", count: 190)
        let body = (0..<32).map { ("\($0)\(long)", "") }
        for _ in 0..<300 { _ = await harness.post("/auth/token", body) }
        for (name, rows, count) in [
            ("notifications/sent", "notifications", 2500), ("requests", "requests", 300),
        ] {
            var numbers: [Int] = []
            var pages = 0
            while true {
                let page = try await harness.control(
                    name, ["after": .string("\(numbers.last ?? 0)"), "limit": "10000"])
                #expect(page.bytes.count < 1 << 20)
                let found = try #require(page[rows]?.elements).compactMap { $0["number"]?.integer }
                guard !found.isEmpty else { break }
                (numbers, pages) = (numbers + found, pages + 1)
            }
            #expect(numbers == Array(1...count) && pages > 1, "\(name): \(pages)")
        }
    }

    private func plan(_ body: JSON) throws -> DeliveryPlan {
        try DeliveryPlan(JSONObjectReader(body, knowing: DeliveryPlan.members), attempts: 1)
    }

    private static func deliveries(_ plan: DeliveryPlan, _ count: Int) -> [ScheduledDelivery] {
        var random = SplitMix64()
        return plan.deliveries(
            of: (1...count).map { ($0, EmulatedNotification(id: "\($0)", payload: "")) }, copies: 3,
            to: url, using: &random)
    }
}

extension EmulatorHarness {
    /// Every notification that was made, oldest first.
    fileprivate func sent() async throws -> [JSON] {
        try #require(try await control("notifications/sent")["notifications"]?.elements)
    }
}

/// A receiver that answers nothing before 256 requests wait.
private final class SlowReceiver: Transport {
    private struct State {
        var running = 0
        var most = 0
        var received = 0
    }

    private let state = Mutex(State())

    /// The most requests that waited for an answer at the same time.
    var most: Int { state.withLock(\.most) }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        state.withLock {
            $0.received += 1
            $0.running += 1
            $0.most = max($0.most, $0.running)
        }
        while state.withLock({ $0.received < 256 }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
        // Gives a surplus request time to start.
        try? await Task.sleep(for: .milliseconds(20))
        state.withLock { $0.running -= 1 }
        return HTTPResponse(status: 200)
    }
}
