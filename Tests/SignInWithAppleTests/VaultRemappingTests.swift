import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct VaultRemappingTests {
    private let fixture: MemoryVaultFixture
    private let new = UserID(unchecked: "new")

    init() throws { fixture = try MemoryVaultFixture() }

    private func remap(isDryRun: Bool = false) throws -> VaultRemapped {
        try fixture.vault.remap(
            [
                VaultRemap(fixture.user, to: new),
                VaultRemap(VaultUser(fixture.user.clientID, UserID(unchecked: "x")), to: new),
            ], isDryRun: isDryRun, at: fixture.start)
    }

    @Test func `tokens move to the new user id, and can be moved again`() throws {
        let vault = fixture.vault
        try vault.take([fixture.item("r-1", .dead), fixture.item("r-2")], at: fixture.start)
        let before = try fixture.records()
        let dry = try remap(isDryRun: true)
        #expect((dry.moved, dry.absent) == (2, 1))
        #expect(try fixture.records() == before && fixture.entries() == [])
        let result = try remap()
        #expect((result.moved, result.absent, result.broken) == (2, 1, []))
        #expect(try fixture.records() == [])
        let moved = try fixture.store.records(of: [VaultUser(fixture.user.clientID, new)]).records
        #expect(moved.map(\.id.fingerprint) == before.map(\.id.fingerprint))
        #expect(moved.map(\.state) == before.map(\.state))
        #expect(Set(try moved.map { try vault.token(of: $0).text.revealed() }) == ["r-1", "r-2"])
        let entries = try fixture.entries()
        #expect(entries.map(\.event) == [.remapped, .remapped])
        #expect(entries.allSatisfy { $0.user == fixture.user && $0.newUserID == new })
        let again = try remap()
        #expect((again.moved, again.absent) == (0, 2))
    }

    @Test func `a token that moves twice in one group ends at the last user id`() throws {
        let vault = fixture.vault
        let client = fixture.user.clientID
        let newest = UserID(unchecked: "newest")
        try vault.take([fixture.item("r-1"), fixture.item("r-2")], at: fixture.start)
        let result = try vault.remap(
            [
                VaultRemap(fixture.user, to: new),
                VaultRemap(VaultUser(client, new), to: newest),
                VaultRemap(fixture.user, to: newest),
            ], at: fixture.start)
        #expect((result.moved, result.absent, result.broken) == (4, 1, []))
        let moved = try fixture.store.records(of: [VaultUser(client, newest)]).records
        #expect(Set(try moved.map { try vault.token(of: $0).text.revealed() }) == ["r-1", "r-2"])
        #expect(try fixture.store.records(of: [fixture.user, VaultUser(client, new)]).isEmpty)
    }

    @Test func `records that cannot be decrypted stay, and tokens are not stored twice`() throws {
        let vault = fixture.vault
        try vault.take([fixture.item("r-1")], at: fixture.start)
        fixture.store.tamper(fixture.user) { $0.sealed[3] ^= 1 }
        try vault.take([fixture.item("r-2")], at: fixture.start)
        let target = VaultUser(fixture.user.clientID, new)
        let kept = try vault.store(fixture.token("r-2"), for: target, at: fixture.start)
        let result = try remap()
        #expect((result.moved, result.broken.map(\.kind)) == (1, [.sealBroken]))
        #expect(try fixture.records().count == 1)
        #expect(try fixture.store.records(of: [target]).records == [kept])
    }
}
