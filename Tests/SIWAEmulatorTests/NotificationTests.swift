import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `POST /emulator/notifications`: what is sent, and how.
@Suite struct NotificationTests {
    private static let url = "http://127.0.0.1:8000/apple"

    @Test func `a notification is sent in the same form as Apple's`() async throws {
        let receiver = Receiver()
        let harness = try await EmulatorHarness(posting: receiver)
        let answer = try await harness.control(
            "notifications", ["type": "consent-revoked", "url": .string(Self.url)])
        #expect(answer["delivered"] == true && answer["attempts"] == [["status": 200]])
        let request = try #require(receiver.requests.first)
        #expect(receiver.requests.count == 1 && receiver.waits.isEmpty)
        #expect(request.method == .post && request.url == Self.url)
        #expect(request.fields["content-type"] == "application/json")
        let payload = try answer.text("payload")
        #expect(try JSON(request.body.revealed()) == ["payload": .string(payload)])
    }

    @Test func `the claims have the recorded members in the recorded order`() async throws {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control("notifications", ["type": "consent-revoked"])
        #expect(answer["delivered"] == false && answer["attempts"] == [])
        let token = try await harness.verified(answer.text("payload"))
        #expect(token.header.members?.map(\.name) == ["kid", "alg"])
        let now = EmulatorHarness.start.seconds
        let event =
            #"{"type":"consent-revoked","sub":"001234.0123456789abcdef.0830","event_time":"#
            + "\(now)000}"
        #expect(
            token.payload == [
                "iss": "https://appleid.apple.com", "aud": .string(EmulatorHarness.app),
                "exp": .integer(now + 86_400), "iat": .integer(now),
                "jti": .string(try answer.text("jti")), "events": .string(event),
            ])
        #expect(try answer.text("jti").wholeMatch(of: /[A-Za-z0-9_-]{22}/) != nil)
        let next = try await harness.control("notifications", ["type": "consent-revoked"])
        #expect(next["jti"] != answer["jti"])
    }

    @Test(arguments: [("email-disabled", "alice"), ("email-enabled", "bob")])
    func `an event about the address contains the relay address`(
        _ type: String, _ user: String
    ) async throws {
        let harness = try await EmulatorHarness()
        let hidden = try await harness.callback(user: user, email: "hide")
        let relay = try JSON(text: try #require(hidden["user"]))["email"]
        let event = try await event(["type": .string(type), "user": .string(user)], harness)
        #expect(
            event.members?.map(\.name)
                == ["type", "sub", "email", "is_private_email", "event_time"])
        #expect(event["email"] == relay && event["is_private_email"] == "true")
    }

    @Test func `every other form of a notification has a switch`() async throws {
        let harness = try await EmulatorHarness([
            "notification_events": "object", "notification_time": "seconds",
            "notification_private_email": "boolean",
        ])
        let answer = try await harness.control("notifications", ["type": "email-disabled"])
        let event = try await harness.verified(answer.text("payload")).payload["events"]
        #expect(event?["event_time"] == .integer(EmulatorHarness.start.seconds))
        #expect(event?["is_private_email"] == true)
    }

    @Test(arguments: ["account-delete", "account-deleted", "of-tomorrow"])
    func `a type is sent exactly as it is given`(_ type: String) async throws {
        let harness = try await EmulatorHarness()
        let event = try await event(["type": .string(type)], harness)
        #expect(event["type"] == .string(type))
        #expect(event.members?.map(\.name) == ["type", "sub", "event_time"])
    }

    @Test func `aud is the client that the request names`() async throws {
        let harness = try await EmulatorHarness()
        let answer = try await harness.control(
            "notifications",
            ["type": "consent-revoked", "client_id": .string(EmulatorHarness.other)])
        let claims = try await harness.verified(answer.text("payload")).payload
        #expect(claims["aud"] == .string(EmulatorHarness.other))
    }

    @Test(arguments: [("once", 1), ("twice", 2), ("never", 0)])
    func `a switch sets how often a notification is delivered`(
        _ delivery: String, _ count: Int
    ) async throws {
        let receiver = Receiver()
        let harness = try await EmulatorHarness(
            ["notification_delivery": .string(delivery)], posting: receiver)
        let answer = try await harness.control(
            "notifications", ["type": "account-delete", "url": .string(Self.url)])
        #expect(answer["delivered"] == .boolean(count > 0))
        #expect(receiver.requests.count == count)
        #expect(Set(receiver.requests.map { $0.body.revealed() }).count == min(count, 1))
    }

    @Test func `a delivery is repeated after any status other than 200`() async throws {
        let receiver = Receiver(500, nil, 204)
        let harness = try await EmulatorHarness(posting: receiver)
        let answer = try await harness.control(
            "notifications",
            ["type": "consent-revoked", "url": .string(Self.url), "attempts": 10])
        #expect(
            answer["attempts"] == [
                ["status": 500], ["error": "timeout: no answer in time"], ["status": 204],
                ["status": 200],
            ])
        #expect(answer["delivered"] == true)
        #expect(receiver.waits == [.milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(Set(receiver.requests.map { $0.body.revealed() }).count == 1)
    }

    @Test(arguments: [(nil, 3), (1, 1), (10, 10)] as [(Int?, Int)])
    func `the number of attempts is limited`(_ asked: Int?, _ count: Int) async throws {
        let receiver = Receiver(503, 503, 503, 503, 503, 503, 503, 503, 503, 503)
        let harness = try await EmulatorHarness(posting: receiver)
        let members = asked.map { [JSON.Member("attempts", .integer($0))] } ?? []
        let answer = try await harness.control(
            "notifications",
            .object(
                [JSON.Member("type", "consent-revoked"), JSON.Member("url", .string(Self.url))]
                    + members))
        #expect(receiver.requests.count == count && answer["delivered"] == false)
        #expect(answer["attempts"]?.elements?.count == count)
        #expect(receiver.waits.allSatisfy { $0 <= .seconds(5) })
    }

    @Test(arguments: [
        "http://127.0.0.1:1/", "https://localhost/x", "http://[::1]:8000/x?y=z", "http://127.9.9.9",
    ])
    func `notifications are sent to loopback addresses`(_ url: String) async throws {
        let receiver = Receiver()
        let harness = try await EmulatorHarness(posting: receiver)
        let answer = try await harness.control("notifications", ["type": "x", "url": .string(url)])
        #expect(answer["delivered"] == true && receiver.requests.map(\.url) == [url])
    }

    @Test(arguments: [
        "https://example.com/apple", "http://192.0.2.1/", "http://127.0.0.1.evil.example/",
        "http://127.0.0.1@evil.example/", "http://evil.example\\@127.0.0.1/", "file:///etc/passwd",
        "http://2130706433/", "http://0.0.0.0/", "http://[::ffff:127.0.0.1]/", "127.0.0.1", "",
    ])
    func `notifications are not sent to other addresses`(_ url: String) async throws {
        let receiver = Receiver()
        let harness = try await EmulatorHarness(posting: receiver)
        let error = await #expect(throws: ShapeError.self) {
            try await harness.control("notifications", ["type": "x", "url": .string(url)])
        }
        #expect(error?.description.hasPrefix("'url' must be an http or https URL of") == true)
        #expect(receiver.requests.isEmpty)
    }

    private func event(_ body: JSON, _ harness: EmulatorHarness) async throws -> JSON {
        let answer = try await harness.control("notifications", body)
        return try JSON(
            text: try await harness.verified(answer.text("payload")).payload.text("events"))
    }
}
