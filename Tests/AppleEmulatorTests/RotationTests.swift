import AppleEmulator
import SIWACrypto
import SignInWithApple
import Testing

/// `POST /emulator/keys/rotate`.
@Suite struct RotationTests {
    @Test func `a new key signs, and the oldest is withdrawn`() async throws {
        let stand = try await Stand()
        let before = try await published(stand)
        let old = try await token(stand)
        let answer = try await stand.control("keys/rotate")
        let new = try await token(stand)
        #expect(try new.header.text("kid") == answer.text("signing"))
        #expect(try !before.contains(new.header.text("kid")))
        let after = try await published(stand)
        #expect(after == Set(try list(answer["published"])) && after.count == 3)
        #expect(before.subtracting(after) == Set(try list(answer["withdrawn"])))
        #expect(before.subtracting(after).count == 1)
        for token in [old, new] { #expect(try await isVerifiable(token, stand)) }
    }

    @Test func `a signing key outlives two rotations, not three`() async throws {
        let stand = try await Stand()
        let old = try await token(stand)
        for isLeft in [true, true, false] {
            try await stand.control("keys/rotate")
            #expect(try await isVerifiable(old, stand) == isLeft)
        }
    }

    @Test(arguments: [1, 3, 5]) func `the set has as many keys as asked`(_ count: Int) async throws
    {
        let stand = try await Stand()
        let before = try await published(stand)
        try await stand.control("keys/rotate", ["keys": .integer(count)])
        let after = try await published(stand)
        #expect(after.count == count && after.subtracting(before).count == max(1, count - 3))
        let new = try await token(stand)
        #expect(try await isVerifiable(new, stand))
    }

    @Test(arguments: [nil, 1, 5] as [Int?])
    func `a key that is withdrawn leaves its tokens behind`(_ count: Int?) async throws {
        let stand = try await Stand()
        let before = try await published(stand)
        let old = try await token(stand)
        var wish = [JSON.Member("withdraw", .string(try old.header.text("kid")))]
        if let count { wish.append(JSON.Member("keys", .integer(count))) }
        try await stand.control("keys/rotate", .object(wish))
        #expect(try await !isVerifiable(old, stand))
        let after = try await published(stand)
        #expect(after.count == count ?? 3)
        if count != 1 { #expect(after.intersection(before).count == 2) }
    }

    @Test func `a reset brings the first keys back`() async throws {
        let stand = try await Stand()
        let before = try await published(stand)
        let old = try await token(stand)
        try await stand.control("keys/rotate", ["keys": 1])
        #expect(try await published(stand) != before)
        try await stand.control("reset")
        #expect(try await published(stand) == before)
        #expect(try await token(stand).header == old.header)
    }

    private func token(_ stand: Stand) async throws -> CompactJWS {
        let answer = try await stand.control("codes", ["client_id": .string(Stand.app)])
        return try CompactJWS(answer.text("id_token"))
    }

    private func keys(_ stand: Stand) async throws -> [String: RSAPublicKey] {
        try #require(KeySet(await stand.get("/auth/keys").body)).keys
    }

    private func published(_ stand: Stand) async throws -> Set<String> {
        Set(try await keys(stand).keys)
    }

    private func isVerifiable(_ token: CompactJWS, _ stand: Stand) async throws -> Bool {
        guard let key = try await keys(stand)[try token.header.text("kid")] else { return false }
        return try key.isValidSignature(token.signature, for: token.signingInput.span)
    }

    private func list(_ json: JSON?) throws -> [String] {
        try #require(json?.elements).compactMap(\.string)
    }
}
