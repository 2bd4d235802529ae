import JOSE
import Lifecycle
import SIWACrypto
import TestSupport
import Testing

/// A vault in memory with one key.
private struct Fixture {
    let store = MemoryVaultStore()
    let vault: Vault
    let user = VaultUser(ClientID(unchecked: "com.example.app"), UserID(unchecked: "u"))
    let start = NumericDate(1_800_000_000)

    init() throws {
        let keys = try VaultKeyRing(try VaultKeyRing.newLine(number: 1))
        try Vault.create(store, keys)
        vault = try Vault(store, keys, by: VaultActor(command: "test", host: "here"))
    }

    func token(_ text: String) -> RefreshToken { RefreshToken(SecretText(text)) }

    func item(
        _ text: String, _ state: VaultState = .active, changed: Int = 0, checked: Int? = nil
    ) -> VaultItem {
        VaultItem(
            user: user, token: token(text), state: state, storedAt: start,
            changedAt: start + .seconds(changed), checkedAt: checked.map { start + .seconds($0) })
    }

    func records() throws -> [VaultRecord] { try store.records(of: [user]).records }

    func events() throws -> [VaultHistoryEvent] { try entries().map(\.event) }

    func entries() throws -> [VaultHistoryEntry] {
        try store.history(VaultHistoryFilter(), after: nil, limit: 1000).entries
    }
}

@Suite struct VaultStoringTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

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

    @Test func `a token whose record is damaged is stored again`() throws {
        let (vault, user) = (fixture.vault, fixture.user)
        let record = try vault.store(fixture.token("r-1"), for: user, at: fixture.start)
        fixture.store.tamper(user) { $0.sealed[3] ^= 1 }
        #expect(throws: VaultError.self) { try vault.token(of: fixture.records()[0]) }
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
        let error = #expect(throws: VaultError.self) {
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
    func `an import changes a known token only as it may`(
        _ known: VaultState, _ new: VaultState
    ) throws {
        for (later, overwrites) in [(-1, false), (0, false), (1, false), (-1, true)] {
            let fixture = try Fixture()
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

    @Test func `a record comes back from a sort as it was, in the order of records`() throws {
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

    @Test func `what was encrypted with an older key is merged with the newest`() throws {
        let old = try fixture.vault.sealed(fixture.item("r-1"))
        let newer =
            try fixture.vault.keys.lines.revealed() + VaultKeyRing.newLine(number: 2).revealed()
        let keys = try VaultKeyRing(SecretBytes(newer))
        try fixture.store.register(keys.check(ofKey: 2))
        #expect(throws: VaultError.self) { try fixture.vault.merge([old], at: fixture.start) }
        let vault = try Vault(
            fixture.store, keys, by: VaultActor(command: "test", host: "here"))
        #expect(try vault.merge([old], at: fixture.start).imported == 1)
        let record = try #require(try fixture.records().first)
        #expect(try record.keyNumber == 2 && vault.token(of: record).text.revealed() == "r-1")
    }

    @Test func `an export into an empty vault is the same vault`() throws {
        let items = VaultState.allCases.enumerated().map {
            fixture.item("r-\($0)", $1, changed: $0, checked: $0 == 2 ? nil : $0)
        }
        try fixture.vault.take(items, at: fixture.start)
        let other = try Fixture()
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

@Suite struct VaultHistoryTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test func `the history says that a token was revoked, when, how it is known and by whom`()
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

    @Test func `an event without a change has no entry`() throws {
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

    @Test func `a revocation has its entry, also when a notification came first`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        let record = try vault.store(fixture.token("r-1"), for: fixture.user, at: start)
        try vault.note([VaultNote(record, .revocationBegun)], at: start)
        try vault.note(.accountDeleted(at: start), ofAllTokensOf: [fixture.user], at: start)
        let after = try vault.note([VaultNote(record, .revoked)], at: start)
        #expect(after.map(\.state) == [.accountDeleted])
        #expect(try fixture.events() == [.stored, .revoking, .accountDeleted, .revoked])
    }

    @Test func `a notification is about every token from before, and about no revoked one`() throws
    {
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

    @Test func `removal can spare other tokens, and can erase the history`() throws {
        let (vault, start) = (fixture.vault, fixture.start)
        let first = try vault.store(fixture.token("r-1"), for: fixture.user, at: start)
        let second = try vault.store(fixture.token("r-2"), for: fixture.user, at: start)
        let damaged = DamagedRecord(
            VaultRowKey(VaultRecordID(fixture.user, nil)), "its state is unknown")
        fixture.store.damage(damaged)
        let removed = try vault.keyless.remove(fixture.user, first.id.fingerprint, at: start)
        #expect(removed.records == [first] && removed.damaged == [])
        let rest = try vault.keyless.remove(fixture.user, isErasing: true, at: start)
        #expect(rest.records == [second] && rest.damaged == [damaged])
        #expect(try fixture.store.records(of: [fixture.user]).isEmpty)
        #expect(try fixture.entries() == [])
    }

    @Test func `what was revoked or dead for long is pruned, and its history stays`() throws {
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

@Suite struct VaultRemappingTests {
    private let fixture: Fixture
    private let new = UserID(unchecked: "new")

    init() throws { fixture = try Fixture() }

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

    @Test func `a token that moves on in the same group moves on`() throws {
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

    @Test func `records that cannot be opened stay, and tokens are not stored twice`() throws {
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

@Suite struct RetiredKeyTests {
    private static let digits = String(repeating: "0a", count: 32)
    private let actor = VaultActor(command: "test", host: "here")

    private func ring(_ text: String) throws -> VaultKeyRing {
        try VaultKeyRing(SecretBytes(text.utf8))
    }

    @Test func `a retired key opens and never seals`() throws {
        let fixture = try Fixture()
        let record = try fixture.vault.store(
            fixture.token("r-1"), for: fixture.user, at: fixture.start)
        let line = String(decoding: fixture.vault.keys.lines.revealed(), as: UTF8.self)
        let keys = try ring(line.dropLast() + " retired\n2 \(Self.digits)\n")
        #expect((keys.numbers, keys.retiredNumbers, keys.newest) == ([1, 2], [1], 2))
        #expect(
            try ring(String(decoding: keys.lines.revealed(), as: UTF8.self)).retiredNumbers == [1])
        #expect(try keys.open(record).text.revealed() == "r-1")
        let fingerprint = try #require(record.id.fingerprint)
        let error = #expect(throws: VaultError.self) {
            try keys.seal(fixture.token("r-1"), for: fixture.user, fingerprint, key: 1)
        }
        #expect(error?.kind == .key)
        // As if an attacker had deleted the row of key 2: key 1 is not used again.
        let refusal = #expect(throws: VaultError.self) {
            try Vault(fixture.store, keys, by: actor)
        }
        #expect(refusal?.kind == .key)
        #expect(refusal?.message.contains("key 1, which is marked as retired") == true)
        #expect(try Vault.currentKey(of: fixture.store, keys) == 1)
        try fixture.store.register(keys.check(ofKey: 2))
        #expect(try Vault(fixture.store, keys, by: actor).currentKey == 2)
    }

    @Test(arguments: [
        ("1 K\n2 K\n", 2, "1 K retired\n2 K\n"),
        ("1 K\n2 K\n3 K\n", 3, "1 K retired\n2 K retired\n3 K\n"),
        ("# a\r\n 1\tK \r\n2 K", 2, "# a\r\n 1\tK retired \r\n2 K"),
        ("K\n2 K\n", 2, "1 K retired\n2 K\n"), ("K", 1, "K"),
        ("1 K, 2 K,3 K", 3, "1 K retired, 2 K retired,3 K"),
        ("1 K retired\n2 K\n", 2, "1 K retired\n2 K\n"), ("2 K\n1 K\n", 2, "2 K\n1 K retired\n"),
    ])
    func `older keys are marked, and every other byte stays`(
        _ before: String, _ newest: Int, _ after: String
    ) throws {
        func written(_ text: String) -> String {
            text.split(separator: "K", omittingEmptySubsequences: false)
                .joined(separator: Self.digits)
        }
        let result = try VaultKeyRing.retiring(
            keysBefore: newest, in: SecretBytes(written(before).utf8))
        #expect(String(decoding: result.revealed(), as: UTF8.self) == written(after))
        let keys = try VaultKeyRing(result)
        #expect(keys.retiredNumbers == keys.numbers.filter { $0 < newest })
    }

    @Test func `key numbers end at the largest of 32 bits, with an error`() throws {
        #expect(try ring("2147483647 \(Self.digits)").newest == 2_147_483_647)
        #expect(try VaultKeyRing.number(after: 999_999) == 1_000_000)
        #expect(try ring("1000000 \(Self.digits)").newest == 1_000_000)
        #expect(throws: VaultError.self) { try ring("2147483648 \(Self.digits)") }
        for number in [2_147_483_647, .max] {
            let error = #expect(throws: VaultError.self) {
                try VaultKeyRing.number(after: number)
            }
            #expect(error?.kind == .key)
        }
        for number in [0, -1, 2_147_483_648, .max, .min] {
            #expect(throws: VaultError.self) { try VaultKeyRing.newLine(number: number) }
        }
        #expect(throws: VaultError.self) { try ring("1 \(Self.digits) Retired") }
        #expect(throws: VaultError.self) { try ring("1 retired \(Self.digits)") }
    }
}

@Suite struct TokenFingerprintTests {
    @Test(arguments: ["", "0123456789a", "0123456789abc", "0123456789aB", "0123456789a ", "éééééé"])
    func `only 12 lowercase digits are a fingerprint`(_ text: String) {
        #expect(TokenFingerprint(text) == nil)
    }

    @Test func `is the one that results show`() throws {
        let token = RefreshToken(SecretText("r-1"))
        #expect(try TokenFingerprint(of: token).rawValue == token.text.fingerprint)
    }

    @Test func `a row with any bytes is named in printable ASCII`() {
        let key = VaultRowKey(
            clientID: [0x61, 0x1B, 0x5C], userID: Array(repeating: 0xFF, count: 100),
            fingerprint: [])
        #expect(
            key.description == "the record of '\(String(repeating: "\\xff", count: 80))…' of "
                + "'a\\x1b\\x5c'")
    }
}
