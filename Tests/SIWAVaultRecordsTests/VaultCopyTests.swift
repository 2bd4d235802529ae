import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// `siwa vault copy` between the databases.
@Suite(.blocking) struct VaultCopyTests {
    /// Texts that every database can hold.
    private static let texts: [[UInt8]] = [
        "", "a", "001.é '\"\\", "\u{1}\u{7F}\u{85}", "🐘\u{202E}", "ÅÅ", "Z", "z", "a b", "%_",
    ].map { Array($0.utf8) }
    /// Texts that only SQLite, and a PostgreSQL database without an encoding, can hold.
    private static let notUTF8: [[UInt8]] = [[0xFF], [0xC3, 0x28], [0x61, 0xED, 0xA0, 0x80]]

    @Test(arguments: CopyWay.all)
    func `a vault that is copied to another database and back has the same rows`(_ way: CopyWay)
        async throws
    {
        var random = SeededRandom.announced(for: "rows to copy, \(way.testDescription)")
        let (source, target) = (try await way.source.fixture(), try await way.target.fixture())
        let back = try await way.source.fixture()
        let odd = way.source == .sqlite && way.target == .sqlite ? Self.notUTF8 + [[0, 0x61]] : []
        try source.fill(60, oddTexts: Self.texts + odd, &random)
        let before = try source.rows()
        let tables = try source.copied(to: target)
        #expect(tables.reduce(0) { $0 + $1.rows } == before.values.reduce(0) { $0 + $1.count })
        #expect(try target.rows() == before)
        let again = try target.copied(to: back)
        #expect(again == tables)
        #expect(try back.rows() == before)
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `a database without an encoding stores every text except NUL`() async throws {
        var random = SeededRandom(seed: 5)
        let source = try SQLiteStoreFixture()
        let target = try await PostgresStoreFixture.withoutEncoding()
        try source.fill(20, oddTexts: Self.texts + Self.notUTF8, &random)
        let before = try source.rows()
        try source.copied(to: target)
        let back = try SQLiteStoreFixture()
        try target.copied(to: back)
        #expect(try back.rows() == before)
    }

    /// What the databases themselves say about their tables.
    @Test(arguments: SQLBackend.available)
    func `every table and column of siwa is copied`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        _ = try fixture.preparedServerStore()
        let sql =
            backend == .sqlite
            ? """
            SELECT tables.name, columns.name FROM sqlite_schema AS tables
            JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'
            """
            : """
            SELECT table_name::text, column_name::text FROM information_schema.columns
            WHERE table_schema = current_schema()
            """
        let found = Set(try fixture.run(sql).map { $0.compactMap(\.text).joined(separator: ".") })
        let copied = (CopiedTable.vault + CopiedTable.server).flatMap { table in
            table.columns.map { "\(table.name).\($0.name)" }
        }
        let ownOfEach = ["vault_schema.", "server_schema.", "server_instance."]
        #expect(
            found.filter { name in !ownOfEach.contains { name.hasPrefix($0) } } == Set(copied))
    }

    /// A copy ends as it should wherever its connections break: all of them, at any statement.
    @Test(.timeLimit(.minutes(10)), arguments: CopyWay.all)
    func `a copy that is cut off anywhere is continued`(_ way: CopyWay) async throws {
        var random = SeededRandom(seed: 11)
        let source = try await way.source.fixture()
        try source.fill(5, oddTexts: Self.texts, &random)
        let before = try source.rows()
        var target = try await way.target.fixture()
        let step = way.source == .sqlite && way.target == .sqlite ? 3 : 37
        var (statements, rounds, isFinished) = (1, 0, false)
        while !isFinished {
            let left = Mutex(statements)
            let copy = try source.copy(to: target, pageSize: 3) {
                CutConnector(base: $0) {
                    left.withLock {
                        $0 -= 1
                        return $0 >= 0
                    }
                }
            }
            do {
                _ = try copy.run { _ in }
                isFinished = true
            } catch is StoreError {
                if try source.connect().mark("source") != nil {
                    #expect(throws: StoreError.self) { try source.store().register(.second) }
                }
                // Every other time, the copy is aborted, unless it is complete already.
                let isAborted =
                    rounds % 2 == 1 && (try? source.copy(to: target).abort()) != nil
                if isAborted {
                    #expect(try source.connect().mark("source") == nil)
                } else {
                    _ = try source.copy(to: target).run { _ in }
                    #expect(try target.rows() == before, "after \(statements) statements")
                    try source.run("UPDATE vault_schema SET state = NULL, move_id = NULL")
                    target = try await way.target.fixture()
                }
            }
            (statements, rounds) = (statements + step, rounds + 1)
            try #require(statements < 5000)
        }
        #expect(try target.rows() == before)
        #expect(rounds > 10)
    }

    /// Many processes store tokens while the vault moves: what they stored is in the target.
    @Test(.timeLimit(.minutes(5)), arguments: CopyWay.all)
    func `rows stored before the move are copied, and none is stored later`(
        _ way: CopyWay
    ) async throws {
        let (source, target) = (try await way.source.fixture(), try await way.target.fixture())
        _ = try source.preparedServerStore()
        let stored = try await withThrowingTaskGroup(of: [Int].self) { group in
            for writer in 0..<3 {
                let store = try source.store()
                group.addTask { try await Self.write(writer, store) }
            }
            try await eventually("tokens are stored") { try source.store().all().count > 30 }
            try source.copied(to: target)
            return try await group.reduce([], +)
        }
        let found = Set(try target.store().all().map(\.number))
        #expect(found == Set(stored))
    }

    /// Stores one token after the other, until the vault moves; the numbers of those that were
    /// stored.
    private static func write(_ writer: Int, _ store: any VaultStore) async throws -> [Int] {
        try await Task.detached {
            var numbers: [Int] = []
            while true {
                let number = writer * 1_000_000 + numbers.count
                do throws(StoreError) {
                    try store.put([VaultRecord(.sample(number), number: number)])
                } catch {
                    guard error.kind == .moving || error.kind == .moved else { throw error }
                    return numbers
                }
                numbers.append(number)
            }
        }.value
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `a transaction that began before the mark ends first`() async throws {
        let (source, target) = (try await PostgresStoreFixture(), try SQLiteStoreFixture())
        _ = try source.vault()
        let writer = try source.connect()
        try writer.begin(.writing)
        try Schema.vault.require(for: .writing, in: writer, "source")
        async let copied = Task.detached { try source.copied(to: target) }.value
        let observer = try source.connect()
        try await eventually("the copy waits") {
            try !observer.run(
                """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                    AND wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE vault_schema%'
                """
            ).isEmpty
        }
        try writer.insert(.second)
        _ = try writer.run("COMMIT")
        _ = try await copied
        #expect(try target.store().keyChecks() == [.first, .second])
    }

    @Test(arguments: CopyWay.all)
    func `until the copy is complete, the source refuses changes and the target all access`(
        _ way: CopyWay
    ) async throws {
        let (source, target) = (try await way.source.fixture(), try await way.target.fixture())
        let server = try source.preparedServerStore()
        try source.store().put([VaultRecord(.sample(1))])
        struct Stop: Error {}
        let copy = try source.copy(to: target, pageSize: 1)
        var rows = 0
        #expect(throws: Stop.self) {
            // Two are examined, and one is copied.
            try copy.run { count in
                rows += count
                if rows > 8 { throw Stop() }
            }
        }
        func kinds(_ fixture: any SQLStoreFixture) throws -> [StoreError.Kind?] {
            let (store, server) = (try fixture.store(), try fixture.serverStore())
            return try [
                Self.kind { try store.register(.second) },
                Self.kind { _ = try store.keyChecks() },
                Self.kind { try server.receive([.sample(1)]) },
                Self.kind { _ = try server.apiTokens() },
                Self.kind { try server.prepare(isAlone: true) },
                Self.kind { _ = try server.examine() },
            ]
        }
        #expect(try kinds(source) == [.moving, nil, .moving, nil, .moving, .moving])
        // A connection that was open before.
        #expect(try Self.kind { try server.check() } == .moving)
        #expect(
            try kinds(target)
                == Array(repeating: .copyIncomplete, count: 6)
                .map { Optional($0) })
        #expect(try Self.kind { try target.store().create(.first) } != nil)
        #expect(try copy.run { _ in } != .wasComplete)
        #expect(try kinds(source) == [.moved, nil, .moved, nil, .moved, .moved])
        #expect(try kinds(target) == [nil, nil, nil, nil, nil, nil])
        // The same run again says that it is done.
        #expect(try copy.run { _ in } == .wasComplete)
    }

    private static func kind(_ body: () throws -> Void) throws -> StoreError.Kind? {
        do {
            try body()
            return nil
        } catch let error as StoreError {
            return error.kind
        }
    }

    @Test(arguments: SQLBackend.available)
    func `a vault with a live server is refused, one whose server was killed is not`(
        _ backend: SQLBackend
    ) async throws {
        let (source, target) = (try await backend.fixture(), try SQLiteStoreFixture())
        let server = try source.preparedServerStore()
        let instance = ServerInstance(id: "one", host: "here", version: "1")
        try server.beat(instance)
        #expect(try source.copy(to: target).preview().servers == 1)
        #expect(try Self.kind { try source.copied(to: target) } == .inUse)
        #expect(try source.connect().mark("source") == nil)
        for change in ["lease_until - 31000", "lease_until + 86400000"] {
            try source.run("UPDATE server_instance SET lease_until = \(change)")
            #expect(try source.copy(to: target).preview().servers == 0)
            try server.beat(instance)
        }
        try server.end(server: "one")
        try source.copied(to: target)
        #expect(try target.run("SELECT 1 FROM server_instance").isEmpty)
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `rows that the target cannot hold are named, and nothing is changed`() async throws {
        let (source, target) = (try SQLiteStoreFixture(), try await PostgresStoreFixture())
        let server = try source.preparedServerStore()
        try source.store().put([VaultRecord(.sample(1)), VaultRecord(.sample(2))])
        try server.receive([.sample(1), .sample(2)])
        try source.run(
            "UPDATE vault_token SET state = CAST(x'ff' AS TEXT) WHERE user_id = 'u000001'")
        try source.run("UPDATE inbox_event SET type = 'a' || char(0) WHERE position = 2")
        for isDryRun in [true, false] {
            let copy = try source.copy(to: target)
            let error = #expect(throws: StoreError.self) {
                if isDryRun { _ = try copy.preview() } else { _ = try copy.run { _ in } }
            }
            let message = try #require(error?.message)
            #expect(error?.kind == .recordDamaged)
            #expect(message.contains("2 rows") && message.contains("type contains a NUL"))
            #expect(message.contains("inbox_event 2"), "\(message)")
            #expect(message.contains("'u000001'") && message.contains("state is not UTF-8"))
        }
        #expect(try source.connect().mark("source") == nil)
        #expect(try target.run("SELECT 1 WHERE to_regclass('vault_schema') IS NOT NULL").isEmpty)
        try source.store().register(.second)
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `rows added to the target get numbers after the copied ones`() async throws {
        var random = SeededRandom(seed: 3)
        let (source, target) = (try SQLiteStoreFixture(), try await PostgresStoreFixture())
        try source.fill(9, oddTexts: Self.texts, &random)
        try source.run("DELETE FROM revocation_job")
        try source.run("UPDATE revocation SET id = 9223372036854775807 WHERE id = 25")
        try source.copied(to: target)
        let history = try target.run(
            """
            INSERT INTO vault_history (at, event, client_id, user_id, token_fingerprint, command,
                host) VALUES (1, 'stored', 'c', 'u', '', '', '') RETURNING id
            """)
        #expect(history == [[.integer(26)]])
        let job = try target.run(
            """
            INSERT INTO revocation_job (client_id, token_fingerprint, kind, proof, state, attempts,
                created_at) VALUES ('c', '', 'code', 'none', 'pending', 0, 0) RETURNING id
            """)
        #expect(job == [[.integer(1)]])
        // A damaged number at the limit leaves numbers for others.
        let revocation = try target.run(
            """
            INSERT INTO revocation (revocation_id, requested_at, state)
            VALUES ('new', 0, 'pending') RETURNING id
            """)
        #expect(revocation == [[.integer(23)]])
    }

    @Test(arguments: CopyWay.all)
    func `leases are not copied`(_ way: CopyWay) async throws {
        let (source, target) = (try await way.source.fixture(), try await way.target.fixture())
        let server = try source.preparedServerStore()
        let vault = try source.store()
        try vault.put([VaultRecord(.sample(1)), VaultRecord(.sample(2))])
        #expect(try vault.claimed(.long("a"), limit: 1).records.count == 1)
        try server.receive([.sample(1)])
        #expect(try server.claimed("a").count == 1)
        try source.copied(to: target)
        for table in ["vault_token", "inbox_event", "code_journal", "revocation_job"] {
            #expect(
                try target.run("SELECT 1 FROM \(table) WHERE lease_owner <> ''").isEmpty)
        }
        #expect(try target.store().claimed(.long("b")).records.count == 2)
    }

    @Test(arguments: SQLBackend.available)
    func `a target with any table of siwa's is refused`(_ backend: SQLBackend) async throws {
        let source = try SQLiteStoreFixture()
        _ = try source.vault()
        let vault = try await backend.fixture()
        _ = try vault.vault()
        #expect(try Self.kind { try source.copied(to: vault) } == .alreadyInitialized)
        #expect(try Self.kind { _ = try source.copy(to: vault).preview() } == .alreadyInitialized)
        try vault.run("DROP TABLE vault_schema")
        #expect(try Self.kind { try source.copied(to: vault) } == .damaged)
        #expect(try Self.kind { try source.copied(to: source) } == .alreadyInitialized)
        #expect(try source.connect().mark("source") == nil)
    }

    /// Nothing is damaged: the copy can be run again.
    @Test(arguments: CopyWay.all)
    func `an aborted copy ends with the error of a moving vault`(
        _ way: CopyWay
    ) async throws {
        let (source, target) = (try await way.source.fixture(), try await way.target.fixture())
        try source.vault().put([VaultRecord(.sample(1)), VaultRecord(.sample(2))])
        let kind = try Self.kind {
            _ = try source.copy(to: target, pageSize: 1).run { _ in
                _ = try source.copy(to: target).abort()
            }
        }
        #expect(kind == .moving)
        try source.copied(to: target)
    }

    @Test func `an incomplete copy belongs to the vault that began it`() async throws {
        let (source, target) = (try SQLiteStoreFixture(), try SQLiteStoreFixture())
        _ = try source.vault()
        struct Stop: Error {}
        #expect(throws: Stop.self) { try source.copy(to: target).run { _ in throw Stop() } }
        // Marked, and nothing copied: another target is refused until it is aborted.
        let elsewhere = try SQLiteStoreFixture()
        #expect(try Self.kind { try source.copied(to: elsewhere) } == .moving)
        #expect(try Self.kind { _ = try source.copy(to: elsewhere).abort() } == .moving)
        let other = try SQLiteStoreFixture()
        _ = try other.vault()
        var pages = 0
        #expect(throws: Stop.self) {
            try source.copy(to: target).run { _ in
                pages += 1
                if pages > 1 { throw Stop() }
            }
        }
        #expect(try Self.kind { try other.copied(to: target) } == .copyIncomplete)
        #expect(try Self.kind { _ = try other.copy(to: target).abort() } == .copyIncomplete)
        // A backup of the source has no mark: it neither continues the copy nor believes it.
        try source.run("UPDATE vault_schema SET state = NULL, place = NULL, move_id = NULL")
        #expect(try Self.kind { try source.copied(to: target) } == .copyIncomplete)
        let removal = try source.copy(to: target).abort()
        #expect(removal == VaultCopyRemoval(unmarksSource: false, removesTarget: true))
        try source.copied(to: target)
        #expect(try Self.kind { _ = try source.copy(to: target).abort() } == .moved)
    }
}

/// A connector whose connections work while `isWorking`.
private struct CutConnector: DatabaseConnector {
    let base: any DatabaseConnector
    let isWorking: @Sendable () -> Bool

    var name: String { base.name }

    func connect(creating: Bool) throws(DatabaseFailure) -> any Database {
        CutDatabase(try base.connect(creating: creating), isWorking)
    }

    func removeIfEmpty() throws(DatabaseFailure) { try base.removeIfEmpty() }
}

private final class CutDatabase: Database {
    private let database: any Database
    private let isWorking: @Sendable () -> Bool

    init(_ database: any Database, _ isWorking: @escaping @Sendable () -> Bool) {
        (self.database, self.isWorking) = (database, isWorking)
    }

    var dialect: Dialect { database.dialect }
    var shell: String { database.shell }

    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]] {
        guard isWorking() else { throw DatabaseFailure(.unreachable, "cut off") }
        return try database.run(sql, values)
    }

    func rollBack() { database.rollBack() }

    func faults(of tables: [String]) throws(DatabaseFailure) -> [String] {
        try database.faults(of: tables)
    }
}
