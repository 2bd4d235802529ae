import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct VaultTests {
    private let store = MemoryVaultStore()
    private let vault: Vault
    private let app = ClientID(unchecked: "com.example.app")
    private let start = NumericDate(1_800_000_000)

    init() throws {
        let keys = try VaultKeyRing(try VaultKeyRing.newLine(number: 1))
        try Vault.create(store, keys)
        vault = try Vault(store, keys, by: Self.actor)
    }

    static let actor = VaultActor(command: "test", host: "here")

    private func user(_ name: String) -> VaultUser { VaultUser(app, UserID(unchecked: name)) }

    private func token(_ text: String) -> RefreshToken { RefreshToken(SecretText(text)) }

    private func stored(_ name: String, _ text: String = "r1") throws -> VaultRecord {
        try vault.store(token(text), for: user(name), at: start)
    }

    private func only(_ name: String) throws -> VaultRecord? {
        let records = try store.records(of: [user(name)]).records
        #expect(records.count < 2)
        return records.first
    }

    private func open(_ name: String) throws -> String {
        let record = try #require(try only(name))
        return try vault.token(of: record).text.revealed()
    }

    private func refusal(_ name: String) throws -> StoreError? {
        let record = try #require(try only(name))
        do {
            _ = try vault.token(of: record)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a vault with an older key file reloads the keys once`() throws {
        let newer = try VaultKeyRing(
            SecretBytes(vault.keys.lines.revealed() + VaultKeyRing.newLine(number: 2).revealed()))
        try store.register(newer.check(ofKey: 2))
        var (held, reads) = (vault, 0)
        for name in ["a", "b"] {
            try held.renewing {
                reads += 1
                return newer
            } _: { vault throws(StoreError) in
                try vault.store(token("r1"), for: user(name), at: start)
            }
        }
        #expect(reads == 1 && held.currentKey == 2)
        let record = try #require(try only("a"))
        #expect(record.keyNumber == 2)
        // Reading also requires the new key.
        #expect(throws: StoreError.self) { try vault.token(of: record) }
        let renewed = vault.renewed(for: [record]) { newer }
        #expect(try renewed.token(of: record).text.revealed() == "r1")
        // The key file has no newer one: the same error again, not a loop.
        held = vault
        #expect(throws: StoreError.self) {
            try held.renewing {
                vault.keys
            } _: { vault throws(StoreError) in
                try vault.store(token("r1"), for: user("a"), at: start)
            }
        }
    }

    @Test(arguments: ["001234.ab.0001", "'; DROP TABLE vault_token; --", "𝄞", "a\u{0301}"])
    func `a stored token is read back`(_ name: String) throws {
        let record = try stored(name, "r-secret")
        #expect(try open(name) == "r-secret")
        #expect(record.state == .active)
        #expect((record.storedAt, record.changedAt) == (start, start))
        #expect(record.checkedAt == nil)
        #expect(!String(describing: record).utf8.elementsEqual("r-secret".utf8))
    }

    @Test func `a change of any byte of a record is detected`() throws {
        let record = try stored("u")
        for index in record.sealed.indices {
            store.tamper(user("u")) { $0.sealed[index] ^= 0x10 }
            #expect(try refusal("u")?.kind == .sealBroken, "byte \(index)")
            store.tamper(user("u")) { $0.sealed = record.sealed }
        }
        #expect(try open("u") == "r1")
    }

    @Test func `a refusal names the record and not the token`() throws {
        _ = try stored("u-7", "r-secret")
        store.tamper(user("u-7")) { $0.sealed[3] ^= 1 }
        let message = try #require(try refusal("u-7")).message
        #expect(
            message.contains(
                "token \(token("r-secret").text.fingerprint) of 'u-7' of com.example.app"))
        #expect(!message.contains("r-secret"))
    }

    @Test func `records cannot be exchanged`() throws {
        let (first, second) = (try stored("a", "ra"), try stored("b", "rb"))
        store.tamper(user("a")) { $0.sealed = second.sealed }
        store.tamper(user("b")) { $0.sealed = first.sealed }
        #expect(try refusal("a")?.kind == .sealBroken)
        #expect(try refusal("b")?.kind == .sealBroken)
    }

    @Test func `places with the same joined text are distinguished`() throws {
        let one = VaultUser(ClientID(unchecked: "com.a"), UserID(unchecked: "bc"))
        let other = VaultUser(ClientID(unchecked: "com.ab"), UserID(unchecked: "c"))
        let fingerprint = try TokenFingerprint(of: token("r"))
        let sealed = try vault.keys.seal(token("r"), for: VaultRecordID(one, fingerprint), key: 1)
        let moved = VaultRecord(
            id: VaultRecordID(other, fingerprint), state: .active, keyNumber: 1, sealed: sealed,
            storedAt: start, changedAt: start)
        #expect(throws: StoreError.self) { try vault.token(of: moved) }
    }

    @Test func `a record cannot be decrypted in the row of another token`() throws {
        let (first, second) = (try stored("u", "r-1"), try stored("u", "r-2"))
        var swapped = second
        swapped.sealed = first.sealed
        store.replace(second.id, with: swapped)
        #expect(throws: StoreError.self) { try vault.token(of: swapped) }
        #expect(try vault.token(of: first).text.revealed() == "r-1")
    }

    @Test func `a different key is detected immediately`() throws {
        let other = try VaultKeyRing(try VaultKeyRing.newLine(number: 1))
        let error = #expect(throws: StoreError.self) { try Vault(store, other, by: Self.actor) }
        #expect(error?.kind == .key)
        #expect(error?.message == "key 1 is not the key 1 of this vault")
    }

    @Test func `a vault moves to a new key, one record at a time`() throws {
        for name in ["a", "b", "c"] { _ = try stored(name, "r-\(name)") }
        let lines = vault.keys.lines.revealed() + (try VaultKeyRing.newLine(number: 2)).revealed()
        let keys = try VaultKeyRing(SecretBytes(lines))
        try store.register(keys.check(ofKey: 2))
        let moving = try Vault(store, keys, by: Self.actor)
        #expect(moving.currentKey == 2)
        try moving.reseal([try #require(try only("a"))])
        let left = try store.records(VaultFilter(notSealedWith: 2), after: nil, limit: 10).records
        #expect(left.map(\.user) == [user("b"), user("c")])
        try moving.reseal(left)
        for name in ["a", "b", "c"] {
            let record = try #require(try only(name))
            #expect(record.keyNumber == 2)
            #expect(try moving.token(of: record).text.revealed() == "r-\(name)")
        }
        // With only the old key, the error names the missing key.
        let error = #expect(throws: StoreError.self) {
            try Vault(store, vault.keys, by: Self.actor)
        }
        #expect(
            error?.message
                == "the vault is encrypted with key 2, which is missing from its keys")
    }

    @Test func `two tokens of one user are two records`() throws {
        let (first, second) = (try stored("u", "r-1"), try stored("u", "r-2"))
        try vault.note([VaultNote(first, .refreshRefused)], at: start + .seconds(5))
        let states = Dictionary(
            uniqueKeysWithValues: try store.records(of: [user("u")]).records.map {
                ($0.id, $0.state)
            })
        #expect(states == [first.id: .dead, second.id: .active])
    }

    @Test func `the history of a removed token does not affect other tokens`() throws {
        let old = try stored("u", "r-old")
        _ = try vault.keyless.remove(user("u"), at: start)
        let new = try stored("u", "r-new")
        #expect(try vault.note([VaultNote(old, .refreshRefused)], at: start).isEmpty)
        #expect(try only("u") == new)
    }

    @Test func `the state of a token is kept if it was encrypted again meanwhile`() throws {
        let old = try stored("u")
        let lines = vault.keys.lines.revealed() + (try VaultKeyRing.newLine(number: 2)).revealed()
        let keys = try VaultKeyRing(SecretBytes(lines))
        try store.register(keys.check(ofKey: 2))
        try Vault(store, keys, by: Self.actor).reseal([old])
        let record = try vault.note([VaultNote(old, .refreshRefused)], at: start).first
        #expect(record?.state == .dead)
        #expect(record?.keyNumber == 2)
    }

    @Test func `an event of an unknown user changes nothing`() throws {
        #expect(
            try vault.note(.accountDeleted(at: start), ofAllTokensOf: [user("x")], at: start)
                .isEmpty)
        #expect(try vault.keyless.remove(user("nobody"), at: start).isEmpty)
    }

    @Test func `a removed token is not found`() throws {
        _ = try stored("u")
        #expect(try vault.keyless.remove(user("u"), at: start).records.map(\.user) == [user("u")])
        #expect(try only("u") == nil)
    }

    @Test func `two claimers get different records until a claim is over`() throws {
        for name in ["a", "b", "c"] { _ = try stored(name) }
        func claim(_ owner: String) throws -> [VaultUser] {
            try vault.claim(
                VaultFilter(), limit: 2, for: Lease(owner: owner, duration: .seconds(60)),
                intent: .revocationBegun, at: start
            ).records.map(\.user)
        }
        #expect(try claim("one") == [user("a"), user("b")])
        #expect(try claim("two") == [user("c")])
        #expect(try claim("three") == [])
        let held = try #require(try only("a"))
        try vault.note([VaultNote(held, nil)], releasedBy: "one", at: start)
        #expect(try claim("one") == [], "its turn in this run is over")
        #expect(try claim("three") == [user("a")])
        store.advance(by: .seconds(61))
        #expect(try claim("four") == [user("a"), user("b")])
    }
}
