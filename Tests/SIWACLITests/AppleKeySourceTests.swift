import SIWAJOSE
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// The key set from cache and network, on a clock of the test's own.
@Suite struct AppleKeySourceTests {
    let server = KeyServer("one", "two")
    let harness: KeySetHarness

    init() { harness = KeySetHarness(server) }

    @Test func `an empty cache fetches the keys once, and a filled cache does not`() async throws {
        for _ in 0..<5 {
            #expect(try await harness.keySet("one").keyIDs == ["one", "two"])
            harness.later(700)
        }
        #expect(server.requests == 1 && harness.said.isEmpty)
    }

    @Test func `the keys are fetched again after an hour`() async throws {
        try await harness.keySet("one")
        harness.later(3599)
        try await harness.keySet("one")
        #expect(server.requests == 1)
        harness.later(1)
        try await harness.keySet("one")
        #expect(server.requests == 2 && harness.said.isEmpty)
    }

    @Test func `an unknown kid causes a fetch, and the changes are reported`() async throws {
        try await harness.keySet("one")
        server.publish("two", "three")
        harness.later(5)
        #expect(try await harness.keySet("three")["three"] != nil)
        #expect(server.requests == 2)
        #expect(
            harness.said == [
                "siwa: note: Apple's keys have changed since they were last seen: "
                    + "new three; withdrawn one"
            ])
        server.publish("four")
        harness.later(5)
        #expect(try await harness.keySet("four", quiet: true)["four"] != nil)
        #expect(harness.said.isEmpty, "-q")
    }

    /// Ten thousand of them are put to the policy alone, in KeySetCacheFetchTests.
    @Test func `a thousand forged tokens cause one fetch a minute`() async throws {
        try await harness.keySet("one")
        for number in 0..<1000 {
            if number % 4 == 0 { harness.later(1) }
            let kid = number % 3 == 0 ? "one" : "forged\(number)"
            #expect(try await harness.keySet(kid, quiet: true)[kid] == nil || kid == "one")
            await Task.yield()
        }
        // 250 s: at the first of them, and when a minute, two, three and four have passed.
        #expect(server.requests == 1 + 5)
    }

    @Test func `during the pause, a warning names the time at which it ends`() async throws {
        try await harness.keySet("forged")
        harness.later(20)
        try await harness.keySet("forged")
        #expect(server.requests == 1)
        #expect(
            harness.said == [
                "siwa: warning: using Apple's keys of 2027-01-15T08:00:00Z, 20s ago: "
                    + "Apple's keys are not requested again before 2027-01-15T08:01:00Z"
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

    @Test(arguments: troubles) func `an old key set is used while Apple is unreachable`(
        _ answer: KeyServer.Answer, _ reason: String
    ) async throws {
        try await harness.keySet("one")
        harness.later(2 * 86_400)
        server.answer(answer)
        for _ in 0..<3 {
            #expect(try await harness.keySet("one")["one"] != nil)
            harness.later(10)
        }
        #expect(server.requests == 2, "it does not ask again at once")
        let said = harness.said
        #expect(said.count == 3 && said.allSatisfy { $0.contains("2027-01-15T08:00:00Z, 2d") })
        #expect(said[0].contains(reason) && said[1].contains("2027-01-17T08:01:00Z"), "\(said)")
        harness.later(60)
        server.publish("one")
        try await harness.keySet("one")
        #expect(server.requests == 3, "a minute later it asks")
    }

    @Test func `a fresh key set is used as well if it cannot be fetched again`() async throws {
        try await harness.keySet("one")
        server.answer(.nothing(left: true))
        #expect(try await harness.keySet("new")["new"] == nil)
        #expect(server.requests == 2 && harness.said.count == 1)
    }

    @Test func `without a key set, an unsuccessful connection does not delay the next fetch`()
        async throws
    {
        server.answer(.nothing(left: false))
        await #expect(throws: KeySetError.self) { try await harness.keySet("one") }
        server.publish("one")
        #expect(try await harness.keySet("one")["one"] != nil)
    }

    @Test func `without a key set, an invalid response delays the next fetch by a minute`()
        async throws
    {
        server.answer(.page(status: 500, ""))
        await #expect(throws: KeySetError.self) { try await harness.keySet("one") }
        harness.later(59)
        await #expect(throws: KeySetError.self) { try await harness.keySet("one") }
        #expect(server.requests == 1)
        harness.later(1)
        server.publish("one")
        #expect(try await harness.keySet("one")["one"] != nil)
    }

    @Test func `a key set with a fetch time in the future is fetched again`() async throws {
        try await harness.keySet("one")
        harness.later(-86_400)
        try await harness.keySet("one")
        #expect(server.requests == 2)
        try await harness.keySet("one")
        #expect(server.requests == 2)
    }

    @Test func `--offline sends no request, even without a stored key set`() async throws {
        await #expect(throws: KeySetError.self) { try await harness.keySet("one", offline: true) }
        try await harness.keySet("one")
        harness.later(9)
        #expect(try await harness.keySet("one", offline: true)["one"] != nil)
        #expect(try await harness.keySet("new", offline: true)["new"] == nil)
        #expect(harness.said.isEmpty)
        harness.later(86_400)
        #expect(try await harness.keySet("one", offline: true)["one"] != nil)
        #expect(harness.said.count == 1 && server.requests == 1)
    }

    @Test func `keys that are ignored are reported when the set is fetched`() async throws {
        let odd: JSON = ["kty": "EC", "kid": "odd\u{1B}[2J"]
        server.answer(.keys([KeyServer.key("one"), odd]))
        try await harness.keySet("one")
        try await harness.keySet("one")
        #expect(
            harness.said == [
                "siwa: note: siwa ignores keys of the key set: "
                    + "kid odd?[2J (it is not an RSA key)"
            ])
    }
}
