import SignInWithApple
import Testing

@testable import SIWACLI

/// The key set from cache and network, on a clock of the test's own.
@Suite struct AppleKeysTests {
    let server = KeyServer("one", "two")
    let desk: KeySetDesk

    init() { desk = KeySetDesk(server) }

    @Test func `a cold cache asks once, a warm one never`() async throws {
        for _ in 0..<5 {
            #expect(try await desk.keySet("one").keys.keys.sorted() == ["one", "two"])
            desk.later(700)
        }
        #expect(server.requests == 1 && desk.said.isEmpty)
    }

    @Test func `after an hour it asks again`() async throws {
        try await desk.keySet("one")
        desk.later(3599)
        try await desk.keySet("one")
        #expect(server.requests == 1)
        desk.later(1)
        try await desk.keySet("one")
        #expect(server.requests == 2 && desk.said.isEmpty)
    }

    @Test func `a kid it has not seen makes it ask, and says what changed`() async throws {
        try await desk.keySet("one")
        server.publish("two", "three")
        desk.later(5)
        #expect(try await desk.keySet("three").keys["three"] != nil)
        #expect(server.requests == 2)
        #expect(
            desk.said == [
                "siwa: note: Apple's keys have changed since they were last seen: "
                    + "new three; withdrawn one"
            ])
        server.publish("four")
        desk.later(5)
        #expect(try await desk.keySet("four", quiet: true).keys["four"] != nil)
        #expect(desk.said.isEmpty, "-q")
    }

    /// Ten thousand of them are put to the policy alone, in KeySetCacheFetchTests.
    @Test func `a thousand forged tokens cause a fetch a minute`() async throws {
        try await desk.keySet("one")
        for number in 0..<1000 {
            if number % 4 == 0 { desk.later(1) }
            let kid = number % 3 == 0 ? "one" : "forged\(number)"
            #expect(try await desk.keySet(kid, quiet: true).keys[kid] == nil || kid == "one")
            await Task.yield()
        }
        // 250 s: at the first of them, and when a minute, two, three and four have passed.
        #expect(server.requests == 1 + 5)
    }

    @Test func `the pause is said, with the moment it ends`() async throws {
        try await desk.keySet("forged")
        desk.later(20)
        try await desk.keySet("forged")
        #expect(server.requests == 1)
        #expect(
            desk.said == [
                "siwa: warning: Apple's keys are those of 2027-01-15T08:00:00Z, 20s ago: "
                    + "Apple is not asked for its keys again before 2027-01-15T08:01:00Z"
            ])
    }

    static let troubles: [(KeyServer.Answer, String)] = [
        (.nothing(left: false), "no connection"), (.nothing(left: true), "no connection"),
        (.page(status: 503, "<html>"), "503"), (.page(status: 429, ""), "429"),
        (.page(status: 200, "<html>"), "not Apple's"),
        (.page(status: 200, #"{"keys":[]}"#), "not Apple's"),
        (.page(status: 200, #"{"keys":[{"kty":"EC","kid":"one"}]}"#), "not Apple's"),
        (.page(status: 400, #"{"error":"invalid_request"}"#), "refused"),
    ]

    @Test(arguments: troubles) func `an old set serves while Apple is out of reach`(
        _ answer: KeyServer.Answer, _ reason: String
    ) async throws {
        try await desk.keySet("one")
        desk.later(2 * 86_400)
        server.answer(answer)
        for _ in 0..<3 {
            #expect(try await desk.keySet("one").keys["one"] != nil)
            desk.later(10)
        }
        #expect(server.requests == 2, "it does not ask again at once")
        let said = desk.said
        #expect(said.count == 3 && said.allSatisfy { $0.contains("2027-01-15T08:00:00Z, 2d") })
        #expect(said[0].contains(reason) && said[1].contains("2027-01-17T08:01:00Z"), "\(said)")
        desk.later(60)
        server.publish("one")
        try await desk.keySet("one")
        #expect(server.requests == 3, "a minute later it asks")
    }

    @Test func `a fresh set serves too when it cannot be fetched again`() async throws {
        try await desk.keySet("one")
        server.answer(.nothing(left: true))
        #expect(try await desk.keySet("new").keys["new"] == nil)
        #expect(server.requests == 2 && desk.said.count == 1)
    }

    @Test func `without any set it fails, and asks again once the network is mended`() async throws
    {
        server.answer(.nothing(left: false))
        await #expect(throws: KeySetError.self) { try await desk.keySet("one") }
        server.publish("one")
        #expect(try await desk.keySet("one").keys["one"] != nil)
    }

    @Test func `without any set, Apple that answers nonsense is left alone for a minute`()
        async throws
    {
        server.answer(.page(status: 500, ""))
        await #expect(throws: KeySetError.self) { try await desk.keySet("one") }
        desk.later(59)
        await #expect(throws: KeySetError.self) { try await desk.keySet("one") }
        #expect(server.requests == 1)
        desk.later(1)
        server.publish("one")
        #expect(try await desk.keySet("one").keys["one"] != nil)
    }

    @Test func `a set from the future is fetched again`() async throws {
        try await desk.keySet("one")
        desk.later(-86_400)
        try await desk.keySet("one")
        #expect(server.requests == 2)
        try await desk.keySet("one")
        #expect(server.requests == 2)
    }

    @Test func `offline asks nobody, whatever is kept`() async throws {
        await #expect(throws: KeySetError.self) { try await desk.keySet("one", offline: true) }
        try await desk.keySet("one")
        desk.later(9)
        #expect(try await desk.keySet("one", offline: true).keys["one"] != nil)
        #expect(try await desk.keySet("new", offline: true).keys["new"] == nil)
        #expect(desk.said.isEmpty)
        desk.later(86_400)
        #expect(try await desk.keySet("one", offline: true).keys["one"] != nil)
        #expect(desk.said.count == 1 && server.requests == 1)
    }

    @Test func `what it ignores in a set it says when it fetches it`() async throws {
        let odd: JSON = ["kty": "EC", "kid": "odd\u{1B}[2J"]
        server.answer(.keys([KeyServer.key("one"), odd]))
        try await desk.keySet("one")
        try await desk.keySet("one")
        #expect(
            desk.said == [
                "siwa: note: the key set holds what siwa ignores: "
                    + "kid odd?[2J (it is not an RSA key)"
            ])
    }
}
