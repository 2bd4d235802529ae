import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Rows written by an attacker without the key are reported and skipped.
@Suite(.blocking) struct DamagedRowTests {
    /// A fault of a row: the UPDATE that causes it, and siwa's message.
    struct Damage: Sendable, CustomTestStringConvertible {
        let change: String
        let reason: String
        /// The name of the damaged row.
        var name = "token '000000000000' of 'u000001' of 'com.example.app'"
        /// Whether claims by a known client and state find the row.
        var isClaimed = true

        var testDescription: String { change }

        static let all = [
            Self(change: "state = 'odd'", reason: "its state is unknown", isClaimed: false),
            Self(change: "key_number = 0", reason: "its key_number is out of range"),
            Self(
                change: "key_number = 9223372036854775807", reason: "its key_number is out of range"
            ),
            Self(
                change: "token_fingerprint = ''",
                reason: "its token_fingerprint is not 12 hexadecimal digits",
                name: "token '' of 'u000001' of 'com.example.app'"),
            Self(
                change: "token_fingerprint = '00000000000G'",
                reason: "its token_fingerprint is not 12 hexadecimal digits",
                name: "token '00000000000G' of 'u000001' of 'com.example.app'"),
            Self(
                change: "stored_at = 9223372036854775807", reason: "its stored_at is out of range"),
            Self(
                change: "changed_at = -9223372036854775808",
                reason: "its changed_at is out of range"),
            Self(change: "checked_at = 253402300800", reason: "its checked_at is out of range"),
            Self(
                change: "user_id = ''", reason: "its user_id must not be empty",
                name: "token '000000000000' of '' of 'com.example.app'"),
            Self(
                change: "user_id = '\(String(repeating: "u", count: 256))'",
                reason: "its user_id must not be longer than 255 bytes",
                name: "token '000000000000' of '\(String(repeating: "u", count: 80))…' of "
                    + "'com.example.app'"),
            Self(
                change: "client_id = 'a b'",
                reason: "its client_id must be an App ID or Services ID, such as com.example.app",
                name: "token '000000000000' of 'u000001' of 'a b'"),
        ]

        /// Rows that only a database without an encoding can hold.
        static let bytes = [
            Self(
                change: "user_id = $1", reason: "its user_id is not UTF-8",
                name: "token '000000000000' of 'u\\xff\\x1b' of 'com.example.app'"),
            Self(
                change: "client_id = $1", reason: "its client_id is not UTF-8",
                name: "token '000000000000' of 'u000001' of 'u\\xff\\x1b'"),
            Self(
                change: "token_fingerprint = $1",
                reason: "its token_fingerprint is not 12 hexadecimal digits",
                name: "token 'u\\xff\\x1b' of 'u000001' of 'com.example.app'"),
            Self(change: "state = $1", reason: "its state is unknown", isClaimed: false),
        ]
    }

    private let good = [0, 2].map { VaultRecord(.sample($0)) }

    private func damaged(
        _ fixture: any SQLStoreFixture, _ damage: Damage, _ values: [Value] = []
    ) throws -> any VaultStore {
        let store = try fixture.vault()
        try store.put(good + [VaultRecord(.sample(1))])
        _ = try fixture.connect().run(
            "UPDATE vault_token SET \(damage.change) WHERE user_id = 'u000001'", values)
        return store
    }

    private func check(_ store: any VaultStore, _ damage: Damage) async throws {
        let message = "\(damage.name) is damaged: \(damage.reason)"
        var (found, names, last): ([VaultRecord], [String], VaultRowKey?) = ([], [], nil)
        while case let page = try store.records(VaultFilter(), after: last, limit: 1),
            let next = page.next
        {
            found += page.records
            names += page.damaged.map(\.error.message)
            last = next
            try #require(found.count + names.count < 9)
        }
        #expect(found == good)
        #expect(names == [message])
        do {
            let filter = VaultFilter(isNewestOnly: true)
            var (claimed, times): ([VaultRecord], Int) = ([], 0)
            while case let claim = try store.claimed(.long("\(filter)"), filter, limit: 1),
                !claim.isComplete
            {
                claimed += claim.records
                times += claim.damaged.count
                try #require(times < 9)
            }
            #expect(claimed.sorted { $0.id < $1.id } == good)
            #expect(times == (damage.isClaimed ? 1 : 0), "once, to let the others pass")
            try store.release(good.map(\.user), by: "\(filter)")
        }
        _ = try store.counts(of: nil)
        #expect(try store.faults().allSatisfy { $0.text.contains("missing from the vault's list") })
        #expect(try store.clients().map(\.rawValue).contains("com.example.app"))
        try store.change(.users([.sample(0), .sample(1)]), releasing: nil) { page in
            VaultChanges(
                updates: page.records.map { VaultUpdate($0.becoming(.dead), replacing: $0.id) },
                removals: page.damaged.map(\.key))
        }
        #expect(try store.record(of: .sample(0))?.state == .dead)
        #expect(try store.records(of: [.sample(1)]).isEmpty)
    }

    @Test(arguments: SQLBackend.available, Damage.all)
    func `a damaged row is named, and the others are read, claimed and changed`(
        _ backend: SQLBackend, _ damage: Damage
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        try await check(damaged(fixture, damage), damage)
    }

    @Test(arguments: SQLBackend.available)
    func `a record in the place of a damaged row is refused, and not as busy`(
        _ backend: SQLBackend
    ) async throws {
        let damage = Damage(change: "changed_at = 9223372036854775807", reason: "")
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try damaged(fixture, damage)
        let error = #expect(throws: StoreError.self) { try store.put([VaultRecord(.sample(1))]) }
        #expect(
            error?.kind == .damaged && error?.isTemporary == false, "\(String(describing: error))")
    }

    @Test(arguments: Damage.bytes)
    func `text in a file that is not UTF-8 is damage`(_ damage: Damage) async throws {
        let bytes = Value.invalidText([0x75, 0xFF, 0x1B])
        let fixture = try SQLiteStoreFixture()
        defer { extendLifetime(fixture) }
        try await check(damaged(fixture, damage, [bytes]), damage)
    }

    @Test func `a NUL in a file's text is damage`() async throws {
        let damage = Damage(
            change: "user_id = $1", reason: "its user_id must not have a NUL character in it",
            name: "token '000000000000' of 'a\\x00b' of 'com.example.app'")
        let fixture = try SQLiteStoreFixture()
        defer { extendLifetime(fixture) }
        try await check(damaged(fixture, damage, [.text("a\0b")]), damage)
    }

    @Test(
        .enabled(
            if: PostgresServer.isAvailable,
            "needs PostgreSQL's server: Debian's package postgresql"), arguments: Damage.bytes)
    func `text that is not UTF-8 is damage on a server without an encoding`(
        _ damage: Damage
    ) async throws {
        let fixture = try await PostgresStoreFixture.withoutEncoding()
        let bytes = Value.invalidText([0x75, 0xFF, 0x1B])
        try await check(damaged(fixture, damage, [bytes]), damage)
    }

    @Test(arguments: SQLBackend.available)
    func `a lease that ended long ago is not damage`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.vault()
        try store.put(good)
        try fixture.run(
            """
            UPDATE vault_token SET lease_owner = 'x', lease_until = -9223372036854775808,
                given_back_at = -9223372036854775808
            WHERE user_id = 'u000000'
            """)
        #expect(try store.faults() == [])
        #expect(try store.claimed(.long("a")).records == good)
    }

    @Test(arguments: SQLBackend.available)
    func `a damaged entry of the history is named, and the others are read`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.vault()
        let entries = (1...3).map {
            VaultHistoryEntry(
                at: NumericDate($0), event: .stored, user: .sample(1), fingerprint: .sample(),
                actor: VaultActor(command: "c", host: "h"))
        }
        try store.change(.users([]), releasing: nil) { _ in VaultChanges(history: entries) }
        let database = try fixture.connect()
        for (change, reason) in [
            ("event = 'odd'", "its event is unknown"),
            ("evidence = 'odd'", "its evidence is unknown"),
            ("user_id = ''", "its user_id must not be empty"),
            ("new_user_id = ''", "its user_id must not be empty"),
        ] {
            _ = try database.run("BEGIN")
            _ = try database.run("UPDATE vault_history SET \(change) WHERE id = 2")
            _ = try database.run("COMMIT")
            let page = try store.history(VaultHistoryFilter(), after: nil, limit: 9)
            #expect(page.entries == [entries[0], entries[2]])
            #expect(
                page.damaged == [
                    StoreError(.recordDamaged, "entry 2 of the history is damaged: \(reason)")
                ])
            _ = try database.run(
                """
                UPDATE vault_history SET event = 'stored', evidence = NULL, new_user_id = NULL,
                    user_id = 'u000001' WHERE id = 2
                """)
        }
        for end in ["9223372036854775807", "-9223372036854775808"] {
            _ = try database.run("UPDATE vault_history SET at = \(end) WHERE id = 2")
            let page = try store.history(VaultHistoryFilter(), after: nil, limit: 9)
            #expect(page.entries.count == 2 && page.damaged.count == 1)
        }
    }

    @Test(arguments: SQLBackend.available)
    func `a key number that is out of range is refused without a trap`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.vault()
        _ = try fixture.connect().run(
            "INSERT INTO vault_key (number, check_value) VALUES (9223372036854775807, $1)",
            [.bytes([1])])
        let error = #expect(throws: StoreError.self) { try store.keyChecks() }
        #expect(error?.kind == .damaged)
        #expect(throws: StoreError.self) { try store.put(good) }
        #expect(try store.all() == [])
    }
}
