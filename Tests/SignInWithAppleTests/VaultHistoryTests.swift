import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct VaultHistoryTests {
    private let fixture: MemoryVaultFixture

    init() throws { fixture = try MemoryVaultFixture() }

    @Test func `the history contains when, how and by whom a token was revoked`()
        throws
    {
        let (vault, start) = (fixture.vault, fixture.start)
        let record = try vault.store(fixture.token("r-1"), for: fixture.user, at: start)
        try vault.note([VaultNote(record, .revocationBegun)], at: start + .seconds(1))
        let details = VaultEventDetails(
            evidence: .refreshRejected, httpStatus: 200, appleRequestID: "id-7")
        try vault.note([VaultNote(record, .revoked, details)], at: start + .seconds(2))
        _ = try vault.keyless.remove(fixture.user, at: start + .seconds(3))
        let entries = try fixture.entries()
        #expect(entries.map(\.event) == [.stored, .revoking, .revoked, .removed])
        #expect(entries.map(\.at) == (0...3).map { start + .seconds($0) })
        #expect(entries.map(\.details) == [.init(), .init(), details, .init()])
        #expect(Set(entries.map(\.fingerprint)) == [record.id.fingerprint])
        #expect(Set(entries.map(\.actor)) == [VaultActor(command: "test", host: "here")])
    }

    @Test func `an event without a change has no history entry`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        let record = try vault.store(fixture.token("r-1"), for: fixture.user, at: start)
        for event in [VaultEvent.refreshed, .consentRevoked(at: start - .seconds(1))] {
            try vault.note([VaultNote(record, event)], at: start)
        }
        try vault.note([VaultNote(record, nil)], at: start)
        #expect(try fixture.events() == [.stored])
        try vault.note([VaultNote(record, .refreshRefused)], at: start)
        try vault.note([VaultNote(record, .refreshRefused)], at: start)
        try vault.note([VaultNote(record, .refreshed)], at: start)
        #expect(try fixture.events() == [.stored, .dead, .active])
    }

    @Test func `a revocation has its history entry, also if a notification came first`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        let record = try vault.store(fixture.token("r-1"), for: fixture.user, at: start)
        try vault.note([VaultNote(record, .revocationBegun)], at: start)
        try vault.note(
            .accountDeleted(at: start + .seconds(1)), ofAllTokensOf: [fixture.user], at: start)
        let after = try vault.note([VaultNote(record, .revoked)], at: start)
        #expect(after.map(\.state) == [.accountDeleted])
        #expect(try fixture.events() == [.stored, .revoking, .accountDeleted, .revoked])
    }

    @Test func `a notification affects every earlier token that is not revoked`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        try vault.take(
            [fixture.item("r-1"), fixture.item("r-2", .dead), fixture.item("r-3", .revoked)],
            at: start)
        let late = try vault.store(fixture.token("r-4"), for: fixture.user, at: start + .seconds(9))
        let page = try vault.note(
            .accountDeleted(at: start + .seconds(8)), ofAllTokensOf: [fixture.user], at: start)
        #expect(
            Set(page.records.map(\.state)) == [.accountDeleted, .revoked, .active])
        #expect(page.records.filter { $0.state == .active }.map(\.id) == [late.id])
        #expect(try fixture.events() == [.accountDeleted, .accountDeleted, .stored])
    }

    @Test func `a removal can keep other tokens, and can erase the history`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        let first = try vault.store(fixture.token("r-1"), for: fixture.user, at: start)
        let second = try vault.store(fixture.token("r-2"), for: fixture.user, at: start)
        let damaged = DamagedRecord(
            VaultRowKey(before: fixture.user), "its state is unknown")
        fixture.store.damage(damaged)
        let removed = try vault.keyless.remove(fixture.user, first.id.fingerprint, at: start)
        #expect(removed.records == [first] && removed.damaged == [])
        let rest = try vault.keyless.remove(fixture.user, isErasing: true, at: start)
        #expect(rest.records == [second] && rest.damaged == [damaged])
        #expect(try fixture.store.records(of: [fixture.user]).isEmpty)
        #expect(try fixture.entries() == [])
    }

    @Test func `tokens that ended long ago are pruned, and their history is kept`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        let items = VaultState.allCases.flatMap { state in
            [-9, 9].map { fixture.item("r-\(state)-\($0)", state, changed: $0) }
        }
        try vault.take(items, at: start)
        var (count, last): (Int, VaultRowKey?) = (0, nil)
        repeat {
            let pruned = try vault.keyless.prune(before: start, after: last, limit: 1, at: start)
            (count, last) = (count + pruned.count, pruned.next)
        } while last != nil
        #expect(count == 2)
        #expect(try fixture.events() == [.pruned, .pruned])
        let left = try fixture.records()
        #expect(left.count == items.count - 2)
        #expect(
            left.filter { [.revoked, .dead].contains($0.state) }.allSatisfy {
                $0.changedAt > start
            })
    }
}
