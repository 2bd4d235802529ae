import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct VaultStoringTests {
    private let fixture: MemoryVaultFixture

    init() throws { fixture = try MemoryVaultFixture() }

    @Test func `every sign-in has its own token`() throws {
        let (vault, user, start) = (fixture.vault, fixture.user, fixture.start)
        let first = try vault.store(fixture.token("r-1"), for: user, at: start)
        let second = try vault.store(fixture.token("r-2"), for: user, at: start + .seconds(5))
        #expect(try Set(fixture.records()) == [first, second])
        #expect(try vault.token(of: first).text.revealed() == "r-1")
        #expect(try vault.token(of: second).text.revealed() == "r-2")
        #expect(try fixture.events() == [.stored, .stored])
        #expect(try fixture.entries()[1].fingerprint == second.id.fingerprint)
    }

    @Test(arguments: ["", " ", "r\u{E9}", "r\u{7}", "r-1\n", "r\u{0}", "eyJ.e30.AA"])
    func `a token that Apple could not accept in a request is not stored`(_ text: String) throws {
        let error = #expect(throws: StoreError.self) {
            try fixture.vault.store(fixture.token(text), for: fixture.user, at: fixture.start)
        }
        #expect(error?.kind == .tokenInvalid)
        #expect(try fixture.records().isEmpty)
        #expect(try fixture.entries().isEmpty)
    }

    @Test(arguments: VaultState.allCases)
    func `a known token that Apple issued again is active`(_ state: VaultState) throws {
        let (vault, user) = (fixture.vault, fixture.user)
        try vault.take([fixture.item("r-1", state)], at: fixture.start)
        let now = fixture.start + .seconds(9)
        let record = try vault.store(fixture.token("r-1"), for: user, at: now)
        #expect(try fixture.records() == [record])
        #expect(record.state == .active && record.storedAt == now)
        #expect(try fixture.events() == (state == .active ? [] : [.active]))
        // A notification about the earlier sign-in does not concern this one.
        try vault.note(.consentRevoked(at: fixture.start), ofAllTokensOf: [user], at: now)
        #expect(try fixture.records() == [record])
    }

    @Test func `a token that is stored late gets the events after its sign-in`() throws {
        let (vault, user, start) = (fixture.vault, fixture.user, fixture.start)
        let other = VaultUser(user.clientID, UserID(unchecked: "somebody.else"))
        let rows: [([VaultNotice], VaultState)] = [
            ([], .active),
            ([VaultNotice(.consentRevoked(at: start), users: [user])], .active),
            (
                [VaultNotice(.consentRevoked(at: start + .seconds(1)), users: [user])],
                .consentRevoked
            ),
            ([VaultNotice(.accountDeleted(at: start + .seconds(1)), users: [other])], .active),
            (
                [
                    VaultNotice(.consentRevoked(at: start + .seconds(1)), users: [user]),
                    VaultNotice(.accountDeleted(at: start + .seconds(2)), users: [user]),
                ], .accountDeleted
            ),
        ]
        for (number, (notices, state)) in rows.enumerated() {
            fixture.store.report(notices)
            let token = fixture.token("r-\(number)")
            let record = try vault.store(
                token, for: user, signedInAt: start, at: start + .seconds(3600))
            #expect(record.state == state, "\(number)")
            #expect(try fixture.records().first { $0.id == record.id } == record)
        }
        #expect(
            try fixture.events() == [
                .stored, .stored, .stored, .consentRevoked, .stored, .stored, .consentRevoked,
                .accountDeleted,
            ])
    }

    @Test func `a token whose record is damaged is stored again`() throws {
        let (vault, user) = (fixture.vault, fixture.user)
        let record = try vault.store(fixture.token("r-1"), for: user, at: fixture.start)
        fixture.store.tamper(user) { $0.sealed[3] ^= 1 }
        #expect(throws: StoreError.self) { try vault.token(of: fixture.records()[0]) }
        try vault.store(fixture.token("r-1"), for: user, at: fixture.start)
        #expect(try vault.token(of: fixture.records()[0]).text.revealed() == "r-1")
        fixture.store.tamper(user) { $0.sealed[3] ^= 1 }
        let counts = try vault.take([fixture.item("r-1")], at: fixture.start)
        #expect((counts.imported, counts.updated, counts.unchanged) == (0, 1, 0))
        #expect(try fixture.records().map(\.id) == [record.id])
        #expect(try vault.token(of: fixture.records()[0]).text.revealed() == "r-1")
    }

    @Test func `a token whose row is damaged is named, and the others are imported`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        let items = ["r-1", "r-1", "r-2"].map { fixture.item($0) }
        let fingerprint = try TokenFingerprint(of: fixture.token("r-1"))
        let row = DamagedRecord(VaultRowKey(VaultRecordID(fixture.user, fingerprint)), "odd")
        fixture.store.damage(row)
        var last: VaultRecord?
        let preview = try vault.previewMerge(
            items.map { try vault.sealed($0) }, after: &last, at: start)
        let counts = try vault.take(items, at: start)
        for counts in [preview, counts] {
            #expect((counts.imported, counts.updated, counts.unchanged) == (1, 0, 0))
            #expect(counts.broken == [row.error])
        }
        #expect(try fixture.records().map { try vault.token(of: $0).text.revealed() } == ["r-2"])
        let error = #expect(throws: StoreError.self) {
            try vault.store(fixture.token("r-1"), for: fixture.user, at: start)
        }
        #expect(error == row.error)
        #expect(try fixture.records().count == 1)
    }

    @Test func `a token is not moved to a place that has a damaged row`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        try vault.take([fixture.item("r-1"), fixture.item("r-2")], at: start)
        let newUser = VaultUser(fixture.user.clientID, UserID(unchecked: "new"))
        let fingerprint = try TokenFingerprint(of: fixture.token("r-1"))
        let row = DamagedRecord(VaultRowKey(VaultRecordID(newUser, fingerprint)), "odd")
        fixture.store.damage(row)
        let result = try vault.remap([VaultRemap(fixture.user, to: newUser.userID)], at: start)
        #expect(result.moved == 1 && result.broken == [row.error])
        #expect(try fixture.records().map(\.id.fingerprint) == [fingerprint])
    }

    /// The import of a known token, for every pair of states.
    @Test(arguments: VaultState.allCases, VaultState.allCases)
    func `an import changes a known token only as permitted`(
        _ known: VaultState, _ new: VaultState
    ) throws {
        for (later, overwrites) in [(-1, false), (0, false), (1, false), (-1, true)] {
            let fixture = try MemoryVaultFixture()
            let vault = fixture.vault
            try vault.take([fixture.item("r-1", known)], at: fixture.start)
            let counts = try vault.take(
                [fixture.item("r-1", new, changed: later, checked: 7)],
                overwritesStates: overwrites, at: fixture.start + .seconds(99))
            let mayChange =
                overwrites
                || later > 0 && [.active, .revoking].contains(known) && new != .active
                    && new != known
            let record = try #require(try fixture.records().first)
            #expect(record.state == (mayChange ? new : known))
            #expect(record.changedAt == fixture.start + .seconds(mayChange ? later : 0))
            #expect(record.checkedAt == (mayChange ? fixture.start + .seconds(7) : nil))
            #expect((counts.updated, counts.unchanged) == (mayChange ? (1, 0) : (0, 1)))
            #expect(try fixture.entries().count == (record.state == known ? 0 : 1))
            #expect(try fixture.entries().allSatisfy { $0.event.rawValue == new.rawValue })
        }
    }

    @Test func `an import of new tokens has no history, and a dry run changes nothing`() throws {
        let items = [
            fixture.item("r-1"), fixture.item("r-2", .dead), fixture.item("r-1"),
            fixture.item("r-1", .revoked, changed: 5),
        ]
        for groupSize in [4, 1] {
            let records = try items.map { try fixture.vault.sealed($0) }.sorted {
                $0.sortKey.lexicographicallyPrecedes($1.sortKey)
            }
            var (last, counts) = (VaultRecord?.none, VaultImportCounts())
            for start in stride(from: 0, to: records.count, by: groupSize) {
                counts += try fixture.vault.previewMerge(
                    Array(records[start..<start + groupSize]), after: &last, at: fixture.start)
            }
            #expect((counts.imported, counts.updated, counts.unchanged) == (2, 1, 1))
            #expect(try fixture.records().isEmpty)
        }
        let counts = try fixture.vault.take(items, at: fixture.start)
        #expect((counts.imported, counts.updated, counts.unchanged) == (2, 1, 1))
        #expect(try Set(fixture.records().map(\.state)) == [.revoked, .dead])
        // The token that the group itself changed is the one entry.
        #expect(try fixture.events() == [.revoked])
        let again = try fixture.vault.take(items, at: fixture.start)
        #expect((again.imported, again.updated, again.unchanged) == (0, 0, 4))
    }

    @Test func `records survive a sort unchanged, and are ordered`() throws {
        let users = ["a", "a.b", "aB", "\u{1}", "\u{FF5E}", "\u{1F600}"].flatMap { user in
            ["one", "one.two", "~"].map {
                VaultUser(ClientID(unchecked: $0), UserID(unchecked: user))
            }
        }
        let records = try users.enumerated().map { number, user in
            let state = VaultState.allCases[number % VaultState.allCases.count]
            return try fixture.vault.sealed(
                VaultItem(
                    user: user, token: fixture.token("r-\(number % 5)"), state: state,
                    storedAt: NumericDate(-number), changedAt: NumericDate(number << 33),
                    checkedAt: number % 2 == 0 ? nil : NumericDate(0)))
        }
        for record in records {
            #expect(VaultRecord(sortKey: record.sortKey, value: record.sortValue) == record)
            #expect(
                VaultRecord(sortKey: record.sortKey, value: Array(record.sortValue[..<39])) == nil)
            #expect(VaultRecord(sortKey: [1] + record.sortKey, value: record.sortValue) == nil)
        }
        let sorted = records.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
        #expect(sorted.map(\.id) == records.map(\.id).sorted())
    }

    @Test func `a record that is encrypted with an older key is merged with the newest key`() throws
    {
        let old = try fixture.vault.sealed(fixture.item("r-1"))
        let newer =
            try fixture.vault.keys.lines.revealed() + VaultKeyRing.newLine(number: 2).revealed()
        let keys = try VaultKeyRing(SecretBytes(newer))
        try fixture.store.register(keys.check(ofKey: 2))
        #expect(throws: StoreError.self) { try fixture.vault.merge([old], at: fixture.start) }
        let vault = try Vault(
            fixture.store, keys, by: VaultActor(command: "test", host: "here"))
        #expect(try vault.merge([old], at: fixture.start).imported == 1)
        let record = try #require(try fixture.records().first)
        #expect(try record.keyNumber == 2 && vault.token(of: record).text.revealed() == "r-1")
    }

    @Test func `an export that is imported into an empty vault gives the same vault`() throws {
        let items = VaultState.allCases.enumerated().map {
            fixture.item("r-\($0)", $1, changed: $0, checked: $0 == 2 ? nil : $0)
        }
        try fixture.vault.take(items, at: fixture.start)
        let other = try MemoryVaultFixture()
        let exported = try fixture.records().map {
            VaultItem(
                user: $0.user, token: try fixture.vault.token(of: $0), state: $0.state,
                storedAt: $0.storedAt, changedAt: $0.changedAt, checkedAt: $0.checkedAt)
        }
        try other.vault.take(exported, at: fixture.start + .seconds(77))
        let withoutSeals = { (records: [VaultRecord]) in
            records.map { record in
                var record = record
                record.sealed = []
                return record
            }
        }
        #expect(try withoutSeals(other.records()) == withoutSeals(fixture.records()))
    }
}
