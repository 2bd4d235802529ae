import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// `POST /emulator/keys/rotate`.
@Suite struct RotationTests {
    @Test func `a new key signs, and the oldest key is withdrawn`() async throws {
        let harness = try await EmulatorHarness()
        let before = try await published(harness)
        let old = try await token(harness)
        let answer = try await harness.control("keys/rotate")
        let new = try await token(harness)
        #expect(try new.header.text("kid") == answer.text("signing"))
        #expect(try !before.contains(new.header.text("kid")))
        let after = try await published(harness)
        #expect(after == Set(try list(answer["published"])) && after.count == 3)
        #expect(before.subtracting(after) == Set(try list(answer["withdrawn"])))
        #expect(before.subtracting(after).count == 1)
        for token in [old, new] { #expect(try await isVerifiable(token, harness)) }
    }

    @Test func `a signing key stays in the set for two rotations, but not three`() async throws {
        let harness = try await EmulatorHarness()
        let old = try await token(harness)
        for isLeft in [true, true, false] {
            try await harness.control("keys/rotate")
            #expect(try await isVerifiable(old, harness) == isLeft)
        }
    }

    @Test(arguments: [1, 3, 5]) func `the set has the configured number of keys`(_ count: Int)
        async throws
    {
        let harness = try await EmulatorHarness()
        let before = try await published(harness)
        try await harness.control("keys/rotate", ["keys": .integer(count)])
        let after = try await published(harness)
        #expect(after.count == count && after.subtracting(before).count == max(1, count - 3))
        let new = try await token(harness)
        #expect(try await isVerifiable(new, harness))
    }

    @Test(arguments: [nil, 1, 5] as [Int?])
    func `tokens of a withdrawn key no longer verify`(_ count: Int?) async throws {
        let harness = try await EmulatorHarness()
        let before = try await published(harness)
        let old = try await token(harness)
        var body = [JSON.Member("withdraw", .string(try old.header.text("kid")))]
        if let count { body.append(JSON.Member("keys", .integer(count))) }
        try await harness.control("keys/rotate", .object(body))
        #expect(try await !isVerifiable(old, harness))
        let after = try await published(harness)
        #expect(after.count == count ?? 3)
        if count != 1 { #expect(after.intersection(before).count == 2) }
    }

    @Test func `a reset restores the first keys`() async throws {
        let harness = try await EmulatorHarness()
        let before = try await published(harness)
        let old = try await token(harness)
        try await harness.control("keys/rotate", ["keys": 1])
        #expect(try await published(harness) != before)
        try await harness.control("reset")
        #expect(try await published(harness) == before)
        #expect(try await token(harness).header == old.header)
    }

    private func token(_ harness: EmulatorHarness) async throws -> CompactJWS {
        let answer = try await harness.control("codes", ["client_id": .string(EmulatorHarness.app)])
        return try CompactJWS(answer.text("id_token"))
    }

    private func keys(_ harness: EmulatorHarness) async throws -> KeySet {
        try #require(KeySet(await harness.get("/auth/keys").body))
    }

    private func published(_ harness: EmulatorHarness) async throws -> Set<String> {
        Set(try await keys(harness).keyIDs)
    }

    private func isVerifiable(_ token: CompactJWS, _ harness: EmulatorHarness) async throws -> Bool
    {
        guard let key = try await keys(harness)[try token.header.text("kid")] else { return false }
        return try key.isValidSignature(token.signature, for: token.signingInput.span)
    }

    private func list(_ json: JSON?) throws -> [String] {
        try #require(json?.elements).compactMap(\.string)
    }
}
