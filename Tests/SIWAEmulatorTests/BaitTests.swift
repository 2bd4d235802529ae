import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// `POST /emulator/baits`.
@Suite struct BaitTests {
    @Test func `a bait serves its key set to every caller, and the log says who asked for it`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let keys: JSON = ["keys": [["kty": "RSA", "kid": "mine"]]]
        let bait = try await harness.control("baits", ["keys": keys])
        #expect(bait.members?.map(\.name) == ["jku"])
        let path = try bait.text("jku")
        let answer = await harness.emulator.respond(
            to: EmulatorRequest(
                method: "GET", target: path + "?x=1",
                fields: [HTTPField("Host", "attacker.example"), HTTPField("User-Agent", "victim")])
        ).response
        #expect(answer.status == 200 && (try? JSON(answer.body)) == keys)
        let asked = try await harness.control("requests", ["path": .string(path)])
        let rows = try #require(asked["requests"]?.elements)
        #expect(rows.count == 1 && rows[0]["user_agent"] == "victim")
    }

    @Test func `a bait can be a chain of certificates, and each has a path of its own`()
        async throws
    {
        let harness = try await EmulatorHarness()
        let both = try await harness.control("baits", ["keys": [:], "certificates": "PEM"])
        let path = try both.text("x5u")
        let answer = await harness.get(path)
        #expect(answer.fields["content-type"] == "application/x-pem-file" && answer.text == "PEM")
        let other = try await harness.control("baits", ["certificates": "PEM"])
        #expect(try other.text("x5u") != path && both.text("jku") != path)
    }

    @Test func `an unknown bait is not found, and a reset removes all`() async throws {
        let harness = try await EmulatorHarness()
        let path = try await harness.control("baits", ["keys": [:]]).text("jku")
        #expect(await harness.get("/bait/x/keys.json").status == 404)
        #expect(await harness.get(path).status == 200)
        try await harness.control("reset")
        #expect(await harness.get(path).status == 404)
    }

    @Test(arguments: [[:], ["keys": "x"], ["certificates": 1], ["key": [:]]] as [JSON])
    func `a body without a document is refused`(_ body: JSON) async throws {
        let harness = try await EmulatorHarness()
        await #expect(throws: (any Error).self) { try await harness.control("baits", body) }
    }
}
