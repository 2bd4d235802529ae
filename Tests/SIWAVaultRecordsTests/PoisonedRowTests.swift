import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Every column of a row with values that an attacker without the key may write: whatever a command
/// asks of the vault, it ends in an answer or an error that names the row, never in a trap, and the
/// other records are untouched.
@Suite(.blocking) struct PoisonedRowTests {
    static let columns = [
        "client_id", "user_id", "token_fingerprint", "state", "key_number", "sealed", "stored_at",
        "changed_at", "checked_at", "lease_owner", "lease_until", "given_back_at",
        "signed_in_at",
    ]

    static let values: [Value] =
        [.null]
        + [Int.min, -1, 0, 1, 1 << 31, 1 << 32, 253_402_300_799, 253_402_300_800, .max].map {
            Value.integer($0)
        }
        + [
            "", " ", "a b", "active", "0123456789ab", "u\u{7}\u{1B}[31m", "ü\u{202E}x", "\u{1F511}",
            "'; DROP TABLE vault_token; --", String(repeating: "u", count: 300),
        ].map { Value.text($0) }
        + [.bytes([]), .bytes([0xFF, 0xFE]), .bytes(Array(repeating: 7, count: 70_000))]

    private let actor = VaultActor(command: "test", host: "here")
    private let now = NumericDate(1_790_000_000)

    /// What the commands ask of a vault.
    private func questions(
        _ vault: Vault, _ user: VaultUser, _ owner: String
    ) -> [(name: String, ask: () throws -> Void)] {
        let (store, now) = (vault.store, now)
        let keyless = KeylessVault(store, by: actor)
        let item = VaultItem(
            user: user, token: RefreshToken(SecretText("r-hush-1")), state: .revoked, storedAt: now,
            changedAt: now + .seconds(1))
        return [
            ("list", { try Self.read(vault, VaultFilter()) }),
            ("list --state", { try Self.read(vault, VaultFilter(states: [.active])) }),
            ("show", { _ = try store.records(of: [user]) }),
            ("history", { _ = try store.history(VaultHistoryFilter(), after: nil, limit: 100) }),
            ("check", { _ = try (store.faults(), store.counts(of: nil), store.clients()) }),
            (
                "batch",
                {
                    for _ in 0..<4 {
                        let claim = try store.claimed(.long(owner), limit: 10)
                        for record in claim.records { _ = try? vault.token(of: record) }
                        _ = try store.renew(claim.records.map(\.id), for: .long(owner))
                        try vault.note(
                            claim.records.map { VaultNote($0, .refreshRefused) }, releasedBy: owner,
                            at: now)
                    }
                    _ = try store.leasedByOthers(than: owner, VaultFilter())
                }
            ),
            ("import", { _ = try vault.take([item], at: now) }),
            ("exchange", { try vault.store(item.token, for: user, at: now) }),
            (
                "notification",
                {
                    let event = VaultEvent.accountDeleted(at: now + .seconds(5))
                    try store.change(.users([user]), releasing: nil) { page throws(StoreError) in
                        vault.changes(
                            after: [VaultNotice(event, users: [user])], of: page, at: now)
                    }
                }
            ),
            (
                "rekey",
                {
                    let page = try store.records(VaultFilter(), after: nil, limit: 10)
                    _ = try vault.reseal(page.records.filter { (try? vault.token(of: $0)) != nil })
                }
            ),
            (
                "remap",
                {
                    let move = VaultRemap(user, to: UserID(unchecked: "moved"))
                    _ = try vault.remap([move], isDryRun: true, at: now)
                }
            ),
            ("prune", { _ = try keyless.prune(before: now, limit: 10, at: now) }),
            ("remove", { _ = try keyless.remove(user, at: now) }),
        ]
    }

    private static func read(_ vault: Vault, _ filter: VaultFilter) throws {
        var (last, pages): (VaultRowKey?, Int) = (nil, 0)
        while case let page = try vault.store.records(filter, after: last, limit: 1),
            let next = page.next
        {
            for record in page.records { _ = try? vault.token(of: record) }
            last = next
            pages += 1
            try #require(pages < 9, "it does not end")
        }
    }

    @Test(arguments: SQLBackend.available, columns)
    func `no value of a column stops a command or changes another record`(
        _ backend: SQLBackend, _ column: String
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.store()
        let keys = try VaultKeyRing(VaultKeyRing.newLine(number: 1))
        try Vault.create(store, keys)
        let vault = try Vault(store, keys, by: actor)
        let (bad, good) = (VaultUser.sample(1), VaultUser.sample(2))
        let database = try fixture.connect()
        var poisoned = 0
        for (number, value) in Self.values.enumerated() {
            _ = try database.run("DELETE FROM vault_token")
            for user in [bad, good] {
                try vault.store(RefreshToken(SecretText("r-hush-1")), for: user, at: now)
            }
            let sql = "UPDATE vault_token SET \(column) = $1 WHERE user_id = 'u000001'"
            // The database itself may refuse a value of another type.
            guard (try? database.run(sql, [value])) != nil else { continue }
            poisoned += 1
            for (name, ask) in questions(vault, bad, "\(number)") {
                do {
                    try ask()
                } catch let error as StoreError {
                    let isTame = error.message.unicodeScalars.allSatisfy {
                        (0x20...0x7E).contains($0.value) || $0 == "…"
                    }
                    #expect(isTame, "\(name), \(value): \(error.message)")
                }
            }
            let rest = try store.records(of: [good])
            #expect(rest.records.count == 1 && rest.damaged.isEmpty, "\(value)")
            #expect(rest.records.allSatisfy { (try? vault.token(of: $0)) != nil }, "\(value)")
        }
        #expect(poisoned >= 3, "\(column) was hardly tried")
    }
}
