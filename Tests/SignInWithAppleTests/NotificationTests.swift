import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct NotificationTests {
    static let event: JSON = [
        "type": "account-delete", "sub": "000001.ab.0001", "event_time": 1_700_000_000_123,
    ]

    static func claims(_ events: JSON?) -> JSON {
        Forge.claims(["sub": nil, "nonce": nil, "jti": "S25cB0PbHs6y97gYYmgydQ", "events": events])
    }

    static func verify(_ claims: JSON) throws -> NotificationVerification {
        try Forge.verifier().verify(notification: Forge.sign(claims), at: Forge.now)
    }

    @Test(arguments: [event, .string(event.text), .string(event.indentedText)])
    func `events is an object, or a text that contains one`(_ events: JSON) throws {
        let notification = try #require(try Self.verify(Self.claims(events)).claims)
        #expect(notification.event.kind == .accountDeleted)
        #expect(notification.event.userID.rawValue == "000001.ab.0001")
        #expect(notification.event.occurredAt == Forge.now)
        #expect(notification.clientID == ClientID(unchecked: "com.example.app"))
        #expect(notification.id == "S25cB0PbHs6y97gYYmgydQ")
    }

    static let kinds: [Row<(wire: String, kind: NotificationEvent.Kind)>] = [
        Row("as Apple sends it", ("account-delete", .accountDeleted)),
        Row("as Apple documents it", ("account-deleted", .accountDeleted)),
        Row("consent", ("consent-revoked", .consentRevoked)),
        Row("mail on", ("email-enabled", .emailEnabled)),
        Row("mail off", ("email-disabled", .emailDisabled)),
        Row("of tomorrow", ("passkey-added", NotificationEvent.Kind(rawValue: "passkey-added"))),
    ]

    @Test(arguments: kinds)
    func `the type of an event is recognised`(
        _ row: Row<(wire: String, kind: NotificationEvent.Kind)>
    ) throws {
        let claims = Self.claims(Self.event.changed(["type": .string(row.value.wire)]))
        #expect(try Self.verify(claims).claims?.event.kind == row.value.kind)
    }

    static let times: [Row<(wire: JSON, text: String)>] = [
        Row("seconds", (1_657_617_063, "2022-07-12T09:11:03Z")),
        Row("milliseconds", (1_657_617_063_999, "2022-07-12T09:11:03Z")),
        Row("the last second", (99_999_999_999, "5138-11-16T09:46:39Z")),
        Row("the first millisecond", (100_000_000_000, "1973-03-03T09:46:40Z")),
        Row("the beginning", (0, "1970-01-01T00:00:00Z")),
    ]

    @Test(arguments: times)
    func `the time of an event is in seconds or milliseconds`(
        _ row: Row<(wire: JSON, text: String)>
    ) throws {
        let claims = Self.claims(Self.event.changed(["event_time": row.value.wire]))
        #expect(try Self.verify(claims).claims?.event.occurredAt.rfc3339 == row.value.text)
        #expect(claims.normalizedEvent?["event_time"] == .string(row.value.text))
    }

    static let broken: [Row<JSON?>] = [
        Row("no events", nil), Row("events as an array", [event]), Row("events as a number", 1),
        Row("events as no JSON", "consent-revoked"), Row("events as an empty text", ""),
        Row("events as the text of a text", .string(JSON.string(event.text).text)),
        Row(
            "events with a member twice",
            .string(#"{"type":"a","type":"a","sub":"1","event_time":1}"#)),
        Row("a comma missing, as documented", .string(#"{"type":"a" "sub":"1","event_time":1}"#)),
        Row("no type", event.changed(["type": nil])), Row("type 1", event.changed(["type": 1])),
        Row("an empty type", event.changed(["type": ""])),
        Row("no sub", event.changed(["sub": nil])), Row("sub null", event.changed(["sub": .null])),
        Row("no time", event.changed(["event_time": nil])),
        Row("a time as a text", event.changed(["event_time": "1657617063"])),
        Row("a time as a fraction", event.changed(["event_time": .number("1.5")])),
        Row("a time after the year 9999", event.changed(["event_time": 253_402_300_800_000])),
        Row("a time before time", event.changed(["event_time": -1])),
        Row("a time of 1e300", event.changed(["event_time": .number("1e300")])),
    ]

    @Test(arguments: broken) func `a notification without a valid event is refused`(
        _ row: Row<JSON?>
    ) throws {
        let result = try Self.verify(Self.claims(row.value))
        #expect(result.failed == ["event"] && result.claims == nil)
        #expect(result.check("event")?.detail?.isEmpty == false)
    }

    @Test func `the largest time does not trap`() throws {
        let claims = Self.claims(Self.event.changed(["event_time": .integer(.max)]))
        #expect(try Self.verify(claims).failed == ["event"])
        #expect(claims.normalizedEvent?["event_time"] == .integer(.max))
        let last = Self.claims(Self.event.changed(["event_time": 253_402_300_799_000]))
        #expect(try Self.verify(last).isValid)
        #expect(last.normalizedEvent?["event_time"] == "9999-12-31T23:59:59Z")
    }

    @Test func `jti can be absent, and otherwise must be a text`() throws {
        let absent = try Self.verify(Self.claims(Self.event).changed(["jti": nil]))
        #expect(absent.isValid && absent.check("jti")?.status == .skipped)
        #expect(absent.claims?.id == nil)
        for value in [7, "", .null] as [JSON] {
            let result = try Self.verify(Self.claims(Self.event).changed(["jti": value]))
            #expect(result.failed == ["jti"])
        }
    }

    @Test func `the checks of all tokens apply to notifications`() throws {
        let claims = Self.claims(Self.event).changed(["iss": "x", "aud": "y", "exp": 1, "iat": ""])
        #expect(try Self.verify(claims).failed == ["issuer", "audience", "expiry", "issued_at"])
        let unknown = try Forge.sign(claims, ["kid": "x", "alg": "HS256"])
        let result = try Forge.verifier().verify(notification: unknown, at: Forge.now)
        #expect(result.failed.first == "algorithm" && result.check("event")?.status == .passed)
    }

    static let normalized: [Row<(event: JSON, comesOut: JSON)>] = [
        Row(
            "deletion",
            (
                event,
                [
                    "type": "account-deleted", "user_id": "000001.ab.0001",
                    "event_time": "2023-11-14T22:13:20Z",
                ]
            )),
        Row(
            "an address, with what siwa does not know",
            (
                [
                    "x": ["y": 1], "is_private_email": "true", "event_time": 0, "sub": "1",
                    "user_id": "2", "email": "a@b.example", "type": "email-disabled",
                ],
                [
                    "type": "email-disabled", "user_id": "1",
                    "event_time": "1970-01-01T00:00:00Z", "email": "a@b.example",
                    "is_private_email": true, "x": ["y": 1],
                ]
            )),
        Row(
            "what cannot be normalized",
            (
                ["type": 1, "event_time": "now", "is_private_email": "no"],
                ["type": 1, "event_time": "now", "is_private_email": "no"]
            )),
    ]

    @Test(arguments: normalized)
    func `an event is written in one form`(_ row: Row<(event: JSON, comesOut: JSON)>) {
        #expect(Self.claims(row.value.event).normalizedEvent == row.value.comesOut)
        #expect(Self.claims(.string(row.value.event.text)).normalizedEvent == row.value.comesOut)
    }

    @Test func `an invalid event is not normalized`() {
        #expect(Self.claims(nil).normalizedEvent == nil)
        #expect(Self.claims([1]).normalizedEvent == nil)
        #expect(Self.claims("{").normalizedEvent == nil)
    }

    @Test func `a flag of an event can be a text`() throws {
        for value in [true, "true"] as [JSON] {
            let event = Self.event.changed(["email": "a@b.example", "is_private_email": value])
            let read = try #require(try Self.verify(Self.claims(event)).claims?.event)
            #expect(read.isPrivateEmail == true && read.email == "a@b.example")
        }
    }
}
