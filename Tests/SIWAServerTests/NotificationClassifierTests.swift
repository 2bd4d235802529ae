import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWAServerRecords
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWALifecycle
@testable import SIWAServer

/// The classification of bodies, without sockets and databases.
@Suite struct NotificationJudgeTests {
    private static let now = NumericDate(1_800_000_000)
    private static let shared = Task { try await EmulatorKeys.generate() }

    private let emulator: AppleEmulator
    private let classifier: NotificationClassifier

    init() async throws {
        emulator = AppleEmulator(
            configuration: EmulatorConfiguration(
                teamID: TeamID(unchecked: "A1B2C3D4E5"),
                clients: ["com.example.app", "com.example.other"].map {
                    EmulatedClient(clientID: ClientID(unchecked: $0), kind: .app)
                }, keys: [],
                users: [EmulatedUser(name: "alice", userID: EmulatedUser.freshUserID())]),
            keys: try await Self.shared.value, clock: { Self.now })
        classifier = NotificationClassifier(
            ProfileClients(
                [
                    try Self.client("com.example.app", "A1B2C3D4E5"),
                    try Self.client("com.example.web", "A1B2C3D4E5"),
                    try Self.client("com.example.foreign", "Z1B2C3D4E5"),
                ], standard: nil), isDelivering: true)
    }

    private static func client(_ id: String, _ team: String) throws -> ProfileClient {
        ProfileClient(
            name: id, teamID: TeamID(unchecked: team),
            secrets: Client(
                teamID: TeamID(unchecked: team), clientID: ClientID(unchecked: id),
                signingKey: SigningKey(
                    try P256PrivateKey.generate(), id: KeyID(unchecked: "K1L2M3N4P5"))),
            audiences: [id], transport: NoTransport(),
            clocks: Clocks(now: { now }, timekeeper: .system))
    }

    /// Nothing is sent here.
    private struct NoTransport: Transport {
        func send(
            _ request: HTTPRequest, timeout: Duration
        ) async throws(TransportError) -> HTTPResponse {
            throw TransportError(.connect, "there is no network", requestMayHaveLeft: false)
        }
    }

    private func payload(_ type: String, for client: String = "com.example.app") async throws
        -> CompactJWS
    {
        let answer = try await emulator.control(
            "notifications", ["type": .string(type), "client_id": .string(client)])
        let text = try #require(answer["payload"]?.string)
        return try #require(classifier.token(in: Array("{\"payload\":\"\(text)\"}".utf8)))
    }

    private var keySet: KeySet {
        get async throws {
            let answer = await emulator.respond(
                to: EmulatorRequest(method: "GET", target: "/auth/keys"))
            return try #require(KeySet(answer.response.body))
        }
    }

    /// The receipt, by two clocks that agree.
    private func received(after time: Duration = .zero) -> TokenTimes {
        TokenTimes(Self.now + time, apple: Self.now + time)
    }

    /// The body of the event of a notification, and the event as `siwa notification` prints it.
    private func body(of events: JSON) throws -> (body: String, printed: String) {
        let claims: JSON = [
            "iss": "https://appleid.apple.com", "aud": "com.example.app", "iat": 1, "exp": 2,
            "jti": "own", "events": events,
        ]
        let parts = [[:], claims].map { (part: JSON) in Base64URL.encode(part.bytes) }
        let token = try CompactJWS(parts.joined(separator: ".") + ".AA")
        let notification = try #require(
            Notification(token.claims, try NotificationEvent(token.claims)))
        let event = try InboxEvent(
            notification, payload: token.bytes, receivedAt: NumericDate(0))
        return (
            String(decoding: event.body, as: UTF8.self),
            try #require(token.payload.normalizedEvent?.text)
        )
    }

    @Test func `the body of an event has siwa's own members once, after Apple's`() throws {
        let events: JSON = [
            "jti": "another", "type": "consent-revoked", "sub": "u", "received_at": 7,
            "event_time": 1, "client_id": "another", "more": [2],
        ]
        #expect(
            try body(of: .string(events.text)).body == """
                {"type":"consent-revoked","user_id":"u","event_time":"1970-01-01T00:00:01Z",\
                "more":[2],"jti":"own","client_id":"com.example.app",\
                "received_at":"1970-01-01T00:00:00Z"}
                """)
    }

    static let spellings: [JSON] = [
        ["type": "email-disabled", "sub": "u", "event_time": 1, "email": "a@b.example"],
        // White space and escapes.
        .string(
            #"""
            { "sub": "u\u002f1\u007f", "type": "email-disabled", "event_time": 1,
              "m\u006fre": { "x": [ "\u0022\u007f" , -0, 1E5, 18446744073709551616 ] },
              "email": "\u00e4\u0040b.example", "is_private_email": "true" }
            """#),
        // Characters that are escaped although they came as they are.
        .string(
            #"{"type":"x","sub":"ä\#u{7F}","event_time":1,"m\#u{7F}":["\#u{7F}",1.50]}"#),
    ]

    @Test(arguments: spellings)
    func `the body of an event begins with the event as it is printed`(_ events: JSON) throws {
        let (body, printed) = try body(of: events)
        let own =
            #","jti":"own","client_id":"com.example.app","received_at":"1970-01-01T00:00:00Z"}"#
        #expect(body == printed.dropLast() + own)
    }

    @Test func `a genuine notification concerns every client of the team`() async throws {
        let token = try await payload("consent-revoked")
        let verdict = classifier.verdict(on: token, by: try await keySet, receivedAt: received())
        guard case .genuine(let event, .consentRevoked) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        let clients = event.notice?.users.map(\.clientID.rawValue).sorted()
        #expect(clients == ["com.example.app", "com.example.web"])
        #expect(event.isDelivered && event.unverified == nil)
    }

    @Test
    func
        `notifications of another app or an unknown key, forged and expired ones are distinguished`()
        async throws
    {
        let keySet = try await keySet
        let other = try await payload("x", for: "com.example.other")
        guard
            case .refused(.notForUs("com.example.other")) = classifier.verdict(
                on: other, by: keySet, receivedAt: received())
        else {
            Issue.record("not refused")
            return
        }
        let good = try await payload("email-disabled")
        let late = classifier.verdict(
            on: good, by: keySet, receivedAt: received(after: .seconds(400 * 86_400)))
        guard case .refused(.forged("expiry")) = late else {
            Issue.record("\(late)")
            return
        }
        let unknown = classifier.verdict(on: good, by: nil, receivedAt: received())
        guard case .unknownKey(_, let kept?) = unknown else {
            Issue.record("\(unknown)")
            return
        }
        #expect(kept.payload == good.bytes && kept.type == "email-disabled")
        #expect(kept.id.rawValue.hasPrefix("unverified-"))
        let tooLate = classifier.verdict(
            on: good, by: nil, receivedAt: received(after: .seconds(400 * 86_400)))
        guard case .unknownKey(_, nil) = tooLate else {
            Issue.record("\(tooLate)")
            return
        }
    }

    @Test(arguments: [-400 * 86_400, -3600, -75, 400 * 86_400])
    func `a notification that fails only for its times is kept while Apple's time is unknown`(
        _ offset: Int
    ) async throws {
        let good = try await payload("email-disabled")
        let keySet = try await keySet
        let wrong = Self.now + .seconds(offset)
        guard
            case .untimely(let check, let kept?) = classifier.verdict(
                on: good, by: keySet, receivedAt: TokenTimes(wrong))
        else {
            Issue.record("not kept")
            return
        }
        #expect(check == (offset < 0 ? "issued_at" : "expiry"))
        #expect(kept.payload == good.bytes && kept.receivedAt == wrong)
        // Without the key as well.
        guard
            case .unknownKey(_, let unsigned?) = classifier.verdict(
                on: good, by: nil, receivedAt: TokenTimes(wrong))
        else {
            Issue.record("not kept without the key")
            return
        }
        #expect(unsigned.receivedAt == wrong)
        // By Apple's clock it is genuine, and was received when it shows.
        guard
            case .genuine(let event, _) = classifier.verdict(
                on: good, by: keySet, receivedAt: TokenTimes(wrong, apple: Self.now))
        else {
            Issue.record("not genuine")
            return
        }
        #expect(event.event.receivedAt == wrong)
        guard
            case .unknownKey(_, let timely?) = classifier.verdict(
                on: good, by: nil, receivedAt: TokenTimes(wrong, apple: Self.now))
        else {
            Issue.record("not kept by Apple's time")
            return
        }
        #expect(timely.receivedAt == Self.now)
    }

    @Test func `a notification with another fault is not kept`() async throws {
        let other = try await payload("x", for: "com.example.other")
        let early = TokenTimes(Self.now - .seconds(3600))
        let verdict = classifier.verdict(on: other, by: try await keySet, receivedAt: early)
        guard case .refused(.forged("issued_at")) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        let unknown = classifier.verdict(on: other, by: nil, receivedAt: early)
        guard case .unknownKey(_, nil) = unknown else {
            Issue.record("\(unknown)")
            return
        }
    }

    @Test(arguments: ["", "{}", "[]", "a.b.c", "{\"payload\":1}", "{\"payload\":\"a.b\"}", "\"x\""])
    func `a body that is not a notification is malformed`(_ body: String) {
        #expect(classifier.token(in: Array(body.utf8)) == nil)
    }
}
