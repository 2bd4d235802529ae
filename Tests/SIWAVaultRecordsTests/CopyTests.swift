import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Where rows are copied to.
enum CopyPlace: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres
    case postgresOverTLS = "postgres over TLS"

    static let available = PostgresServer.isAvailable ? allCases : [.sqlite]
    static let servers = available.filter { $0 != .sqlite }

    var testDescription: String { rawValue }

    func fixture() async throws -> any SQLStoreFixture {
        switch self {
        case .sqlite: try SQLiteStoreFixture()
        case .postgres: try await PostgresStoreFixture()
        case .postgresOverTLS: try await PostgresStoreFixture.overTLS()
        }
    }
}

/// Many rows at once: a copy on a server, statements one after the other in a file. Through TLS, libpq
/// writes and reads in other pieces, and `poll` says less about what it holds.
@Suite(.blocking) struct CopyTests {
    private static let columns = ["number", "name", "contents"]

    private func table(_ fixture: any SQLStoreFixture) throws -> any Database {
        _ = try fixture.vault()
        let connection = try fixture.connect()
        let dialect = connection.dialect
        _ = try connection.run(
            """
            CREATE TABLE rows (number \(dialect.integer) PRIMARY KEY, name \(dialect.text),
                contents \(dialect.bytes))
            """)
        return connection
    }

    /// More than the buffers between the two hold.
    private func rows(_ count: Int) -> [[Value]] {
        (0..<count).map { number in
            let id = Samples.oddIDs[number % Samples.oddIDs.count]
            return [
                .integer(number == 0 ? .min : number == 1 ? .max : number),
                number % 5 == 3 ? .null : .text(String(repeating: id, count: number % 40)),
                number % 7 == 3
                    ? .null : .bytes([UInt8](repeating: UInt8(number % 256), count: 99)),
            ]
        }
    }

    @Test(arguments: CopyPlace.available, [0, 1, 49, 50, 20_000])
    func `rows are copied unchanged`(_ place: CopyPlace, _ count: Int) async throws {
        let fixture = try await place.fixture()
        defer { extendLifetime(fixture) }
        let database = try table(fixture)
        let rows = rows(count)
        try database.transaction(.writing) { database throws(DatabaseFailure) in
            try database.copy(rows, into: "rows", Self.columns)
        }
        let found = try database.run("SELECT number, name, contents FROM rows")
        #expect(found.count == count && Set(found) == Set(rows))
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `a connection with TLS is recognised`() async throws {
        let connection = try await PostgresStoreFixture.overTLS().connect()
        let sql = "SELECT version FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()"
        #expect(try connection.run(sql).first?.first?.text?.hasPrefix("TLS") == true)
    }

    @Test(arguments: CopyPlace.available)
    func `a duplicate row fails, and the connection stays usable`(_ place: CopyPlace)
        async throws
    {
        let fixture = try await place.fixture()
        defer { extendLifetime(fixture) }
        let database = try table(fixture)
        let rows = rows(5000)
        let ways = [
            // Found while most rows are still on their way, and at the end.
            (rows.prefix(1) + rows, Self.columns), (rows + rows.suffix(1), Self.columns),
            (rows, ["number", "name", "missing"]),
        ]
        for (rows, columns) in ways {
            let failure = #expect(throws: DatabaseFailure.self) {
                try database.transaction(.writing) { database throws(DatabaseFailure) in
                    try database.copy(rows, into: "rows", columns)
                }
            }
            #expect(failure?.remedy != .reconnection, "\(String(describing: failure))")
            #expect(try database.run("SELECT count(*) FROM rows") == [[.integer(0)]])
        }
    }

    /// More than the buffers between the two hold.
    private static let records = (0..<20_000).map { VaultRecord(.sample($0)) }

    /// Holds up the copy of ``records`` at its first row, until it is rolled back: its key is in the
    /// index and not committed.
    private func holdUp(_ fixture: any SQLStoreFixture) throws -> any Database {
        let other = try fixture.connect()
        _ = try other.run(other.dialect.beginWriting)
        _ = try other.run(
            """
            INSERT INTO vault_token (client_id, user_id, token_fingerprint, state, key_number,
                sealed, stored_at, changed_at)
            VALUES ($1, $2, $3, 'active', 1, '', 1, 1)
            """, VaultRowKey(Self.records[0].id).values)
        return other
    }

    private func copyWaits(on fixture: any SQLStoreFixture) async throws {
        let observer = try fixture.connect()
        try await eventually("the copy waits") {
            try !observer.run(
                """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                    AND wait_event_type = 'Lock' AND query LIKE 'COPY%'
                """
            ).isEmpty
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: CopyPlace.servers)
    func `a timeout shortened by a signal ends a copy that another transaction blocks`(
        _ place: CopyPlace
    ) async throws {
        let fixture = try await place.fixture()
        _ = try fixture.vault()
        let (records, other) = (Self.records, try holdUp(fixture))
        let isSignalled = Mutex(false)
        let timeout = StoreTimeout { isSignalled.withLock(\.self) ? .zero : .seconds(3600) }
        let store = SQLVaultStore(try fixture.connector(timeout))
        async let failed: StoreError? = Task.detached {
            do throws(StoreError) {
                try store.put(records)
                return nil
            } catch { return error }
        }.value
        try await copyWaits(on: fixture)
        isSignalled.withLock { $0 = true }
        let error = await failed
        #expect(error?.isTemporary == true, "\(String(describing: error))")
        isSignalled.withLock { $0 = false }
        _ = try other.run("ROLLBACK")
        try store.put(records)
        #expect(try store.all().count == records.count)
    }

    @Test(.timeLimit(.minutes(5)), arguments: CopyPlace.servers)
    func `a copy continues after another transaction blocked it`(_ place: CopyPlace) async throws {
        let fixture = try await place.fixture()
        let store = try fixture.vault()
        let (records, other) = (Self.records, try holdUp(fixture))
        async let stored: Void = Task.detached { try store.put(records) }.value
        try await copyWaits(on: fixture)
        _ = try other.run("ROLLBACK")
        try await stored
        #expect(try store.all() == records)
    }

    /// Two imports of the same tokens: each token is stored once, and neither fails.
    @Test(.timeLimit(.minutes(5)), arguments: CopyPlace.available)
    func `concurrent writers store each token exactly once`(
        _ place: CopyPlace
    ) async throws {
        let fixture = try await place.fixture()
        _ = try fixture.vault()
        let records = (0..<2000).map { VaultRecord(.sample($0)) }
        let stored = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                let store = try fixture.store()
                group.addTask {
                    var stored = 0
                    for start in stride(from: 0, to: records.count, by: 400) {
                        let part = Array(records[start..<start + 400])
                        var new = 0
                        try store.change(.users(part.map(\.user)), releasing: nil) { page in
                            let known = Set(page.records.map(\.id))
                            let missing = part.filter { !known.contains($0.id) }
                            new = missing.count
                            return VaultChanges(
                                updates: missing.map { VaultUpdate($0, replacing: nil) })
                        }
                        stored += new
                    }
                    return stored
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(stored == records.count)
        #expect(try fixture.store().all() == records.sorted { $0.id < $1.id })
    }
}
