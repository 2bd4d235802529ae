import Foundation
import JOSE
import Lifecycle
import SIWACrypto
import TestSupport
import Testing

@testable import TokenVault

/// Vaults that siwa 0.1 made, in the state of real databases (Fixtures).
@Suite(.blocking) struct MigrationTests {
    /// Which database, and the version of its tables.
    struct Case: Sendable, CustomTestStringConvertible {
        let backend: SQLBackend
        let version: Int

        var testDescription: String { "\(backend.rawValue), version \(version)" }

        static let all = SQLBackend.available.flatMap { backend in
            [1, 2].map { Self(backend: backend, version: $0) }
        }

        /// The statements of the fixture. Version 1 had one column less.
        func statements() throws -> [String] {
            let path = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "Fixtures/vault-2.\(backend.rawValue).sql")
            var sql = try String(contentsOf: path, encoding: .utf8)
            if version == 1 {
                for (new, old) in [
                    (" DEFAULT 0, given_back_at INTEGER,", " DEFAULT 0,"),
                    (",\n    given_back_at bigint", ""), (", NULL);", ");"), (",NULL);", ");"),
                    ("schema VALUES(2)", "schema VALUES(1)"),
                    ("schema VALUES (2)", "schema VALUES (1)"),
                ] {
                    sql = sql.replacingOccurrences(of: new, with: old)
                }
            }
            return sql.split(separator: "\n").filter { !$0.hasPrefix("--") }
                .joined(separator: "\n").components(separatedBy: ";\n")
                .filter { $0.contains { !$0.isWhitespace } }
        }

        /// A database with the fixture in it.
        func fixture() async throws -> any SQLStoreFixture {
            let fixture = try await backend.fixture()
            if let fixture = fixture as? SQLiteStoreFixture {
                try fixture.folder.write("vault.db", "")
            }
            let database = try fixture.connect()
            for statement in try statements() { _ = try database.run(statement) }
            return fixture
        }
    }

    static let keys = """
        1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
        2 202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f
        """

    /// What the fixture holds, in the order of records.
    private static let expected: [(user: VaultUser, token: String, state: VaultState)] = [
        (VaultUser("com.example.app", "001.active"), "r-fixture-active", .active),
        (VaultUser("com.example.app", "001.resealed"), "r-fixture-resealed", .revoking),
        (VaultUser("com.example.app", "001.revoked"), "r-fixture-revoked", .revoked),
        (VaultUser("com.example.app", "001.é '"), "r-fixture-odd", .accountDeleted),
        (VaultUser("com.example.web", "001.active"), "r-fixture-web", .dead),
    ]

    private static let now = NumericDate(1_800_000_000)

    private func vault(_ fixture: any SQLStoreFixture, command: String = "test") throws -> Vault {
        try Vault(
            fixture.store(), VaultKeyRing(SecretBytes(Self.keys.utf8)),
            by: VaultActor(command: command, host: "here"))
    }

    private func token(_ text: String) -> RefreshToken { RefreshToken(SecretText(text)) }

    private func id(_ user: VaultUser, _ text: String) throws -> VaultRecordID {
        VaultRecordID(user, try TokenFingerprint(of: token(text)))
    }

    @Test(arguments: Case.all)
    func `the tables are updated without the key, and every token still opens`(
        _ old: Case
    ) async throws {
        let fixture = try await old.fixture()
        let records = try fixture.store().all()
        #expect(try fixture.connect().run("SELECT version FROM vault_schema") == [[.integer(4)]])
        #expect(records.map(\.user) == Self.expected.map(\.user))
        #expect(records.map(\.state) == Self.expected.map(\.state))
        #expect(records.allSatisfy { $0.isLegacy })
        #expect(records.map(\.legacyVersion) == [2, 3, 1, 1, 1])
        #expect(records.map(\.keyNumber) == [2, 2, 1, 2, 1])
        #expect(records[4].checkedAt == NumericDate(1_700_000_200))
        #expect(records[2].changedAt == NumericDate(1_700_000_100))
        let vault = try vault(fixture)
        #expect(
            try records.map { try vault.token(of: $0).text.revealed() }
                == Self.expected.map(\.token))
        #expect(try fixture.store().faults() == [])
        #expect(try fixture.store().history(VaultHistoryFilter(), after: nil, limit: 9).next == nil)
    }

    @Test(arguments: Case.all)
    func `an older siwa leaves the new tables alone`(_ old: Case) async throws {
        let fixture = try await old.fixture()
        _ = try fixture.store().keyChecks()
        let older = Schema.vault(migrations: Array(Schema.vault.migrations.prefix(2)))
        let error = #expect(throws: VaultError.self) {
            try fixture.store(timeout: .seconds(60), older).keyChecks()
        }
        #expect(error?.kind == .tooNew)
    }

    @Test(arguments: Case.all)
    func `a token that an old record holds is not stored twice`(_ old: Case) async throws {
        let fixture = try await old.fixture()
        let vault = try vault(fixture)
        let items = Self.expected.map {
            VaultItem(
                user: $0.user, token: token($0.token), storedAt: Self.now, changedAt: Self.now)
        }
        let records = try items.map { try vault.sealed($0) }.sorted { $0.id < $1.id }
        var last: VaultRecord?
        #expect(try vault.previewMerge(records, after: &last, at: Self.now).unchanged == 5)
        #expect(try vault.store.all().allSatisfy { $0.isLegacy }, "a dry run changes nothing")
        let counts = try vault.take(items, at: Self.now)
        #expect((counts.imported, counts.updated, counts.unchanged) == (0, 0, 5))
        #expect(try vault.store.all().map(\.state) == Self.expected.map(\.state))

        let again = try vault.store(
            token("r-fixture-web"), for: Self.expected[4].user, at: Self.now)
        #expect(again.state == .active && again.storedAt == Self.now)
        let new = try vault.store(token("r-new"), for: Self.expected[0].user, at: Self.now)
        #expect(try vault.store.records(of: [Self.expected[0].user]).records.count == 2)
        #expect(try vault.store.all().count == 6)
        let history = try vault.store.history(VaultHistoryFilter(), after: nil, limit: 9).entries
        #expect(history.map(\.event) == [.active, .stored])
        #expect(history.map(\.fingerprint) == [again.id.fingerprint, new.id.fingerprint])
    }

    @Test(arguments: Case.all)
    func `any change converts the old records of its users`(_ old: Case) async throws {
        let fixture = try await old.fixture()
        let (one, other) = (try vault(fixture), try vault(fixture))
        let held = try #require(try one.store.record(of: Self.expected[0].user))
        let user = Self.expected[0].user
        let after = try other.note([VaultNote(held, .refreshed)], at: Self.now)
        #expect(after.map(\.id) == [try id(user, "r-fixture-active")])
        #expect(after.first?.legacyVersion == nil)
        // The first process knows the record by its old name still.
        let dead = try one.note([VaultNote(held, .refreshRefused)], at: Self.now)
        #expect(dead.map(\.state) == [.dead])
        #expect(try one.store.records(of: [user]).records == dead)
        #expect(try one.token(of: dead[0]).text.revealed() == "r-fixture-active")
        #expect(try one.store.all().filter(\.isLegacy).count == 4)
    }

    @Test(arguments: Case.all)
    func `resealing converts every record that opens, and leaves the others`(
        _ old: Case
    ) async throws {
        let fixture = try await old.fixture()
        let vault = try vault(fixture)
        _ = try fixture.connect().run(
            """
            UPDATE vault_token SET version = 7 WHERE user_id = '001.revoked'
            """)
        let filter = VaultFilter(notSealedWith: 2)
        let found = try vault.store.all(filter)
        #expect(found.count == 5)
        let good = found.filter { (try? vault.token(of: $0)) != nil }
        #expect(good.count == 4)
        try vault.reseal(good)
        let left = try vault.store.all(filter)
        #expect(left.map(\.user.userID.rawValue) == ["001.revoked"])
        let error = #expect(throws: VaultError.self) { try vault.reseal(left) }
        #expect(error?.kind == .sealBroken)
        for (user, text, state) in Self.expected where user != left[0].user {
            let record = try #require(try vault.store.record(of: user))
            #expect(record.id == (try id(user, text)))
            #expect((record.state, record.keyNumber, record.legacyVersion) == (state, 2, nil))
            #expect(try vault.token(of: record).text.revealed() == text)
        }
        // Nothing happened to the tokens.
        #expect(try vault.store.history(VaultHistoryFilter(), after: nil, limit: 9).next == nil)
    }

    @Test(arguments: Case.all)
    func `a batch converts what it claims, and keeps its lease`(_ old: Case) async throws {
        let fixture = try await old.fixture()
        let vault = try vault(fixture, command: "batch revoke")
        let claimed = try vault.claim(
            VaultFilter(states: [.active]), limit: 9, for: .long("a"), intent: .revocationBegun,
            at: Self.now)
        let user = Self.expected[0].user
        #expect(claimed.records.map(\.id) == [try id(user, "r-fixture-active")])
        #expect(claimed.records.map(\.state) == [.active], "as it was before")
        #expect(try vault.token(of: claimed.records[0]).text.revealed() == "r-fixture-active")
        #expect(try vault.store.record(of: user)?.state == .revoking)
        #expect(try vault.store.claim(.long("b"), VaultFilter(states: [.revoking])).count == 1)
        #expect(try vault.store.renew(claimed.records.map(\.id), for: .long("a")).held.count == 1)
        let details = VaultEventDetails(
            evidence: .refreshRejected, httpStatus: 200, appleRequestID: "id-1")
        try vault.note(
            [VaultNote(claimed.records[0], .revoked, details)], releasedBy: "a", at: Self.now)
        let history = try vault.store.history(VaultHistoryFilter(), after: nil, limit: 9).entries
        #expect(history.map(\.event) == [.revoking, .revoked])
        #expect(Set(history.map(\.fingerprint)) == [claimed.records[0].id.fingerprint])
        #expect(history[1].details == details)
        #expect(history[1].actor == VaultActor(command: "batch revoke", host: "here"))
    }

    @Test(arguments: Case.all)
    func `a row that breaks a rule of the old tables stops no migration`(_ old: Case) async throws {
        let fixture = try await old.fixture()
        let database = try fixture.connect()
        for sql in old.backend == .sqlite
            ? ["PRAGMA foreign_keys = OFF", "PRAGMA ignore_check_constraints = ON"]
            : [
                "ALTER TABLE vault_token DROP CONSTRAINT vault_token_state_check",
                "ALTER TABLE vault_token DROP CONSTRAINT vault_token_key_number_fkey",
            ]
        {
            _ = try database.run(sql)
        }
        _ = try database.run("UPDATE vault_token SET state = 'odd' WHERE client_id LIKE '%web'")
        _ = try database.run("UPDATE vault_token SET key_number = 9 WHERE user_id = '001.revoked'")
        let store = try fixture.store()
        let page = try store.records(VaultFilter(), after: nil, limit: 9)
        #expect(page.records.count == 4)
        #expect(page.damaged.map(\.reason) == ["its state is unknown"])
        #expect(
            try store.faults() == [
                "records are encrypted with key 9, which is missing from the vault's list of keys"
            ])
    }
}
