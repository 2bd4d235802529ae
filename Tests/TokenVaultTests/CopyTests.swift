import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import TokenVault

/// Many rows at once: a copy on a server, statements one after the other in a file.
@Suite(.blocking) struct CopyTests {
    private static let columns = ["number", "name", "contents"]

    private func table(_ backend: SQLBackend) async throws -> any Database {
        let database = try await backend.fixture()
        _ = try database.vault()
        let connection = try database.connect()
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

    @Test(arguments: SQLBackend.available, [0, 1, 49, 50, 20_000])
    func `rows come back as they were`(_ backend: SQLBackend, _ count: Int) async throws {
        let database = try await table(backend)
        let rows = rows(count)
        try database.transaction(.writing) { database throws(DatabaseFailure) in
            try database.copy(rows, into: "rows", Self.columns)
        }
        let found = try database.run("SELECT number, name, contents FROM rows")
        #expect(found.count == count && Set(found) == Set(rows))
    }

    @Test(arguments: SQLBackend.available)
    func `a row that is there fails, and the connection works on`(_ backend: SQLBackend)
        async throws
    {
        let database = try await table(backend)
        let rows = rows(5000)
        for columns in [Self.columns, ["number", "name", "missing"]] {
            let failure = #expect(throws: DatabaseFailure.self) {
                try database.transaction(.writing) { database throws(DatabaseFailure) in
                    try database.copy(rows + rows.suffix(1), into: "rows", columns)
                }
            }
            #expect(failure?.remedy != .reconnection, "\(String(describing: failure))")
            #expect(try database.run("SELECT count(*) FROM rows") == [[.integer(0)]])
        }
    }

    @Test(
        .timeLimit(.minutes(5)),
        .enabled(if: PostgresServer.isAvailable, "needs PostgreSQL's server"))
    func `a timeout that a signal shortens ends a copy that another transaction holds up`()
        async throws
    {
        let fixture = try await PostgresStoreFixture()
        _ = try fixture.vault()
        let other = try fixture.connect()
        let records = (0..<20_000).map { VaultRecord(.sample($0)) }
        // Its key is in the index and not committed: the copy waits at its first row.
        _ = try other.run(other.dialect.beginWriting)
        _ = try other.run(
            """
            INSERT INTO vault_token (client_id, user_id, token_fingerprint, state, key_number,
                sealed, stored_at, changed_at)
            VALUES ($1, $2, $3, 'active', 1, '', 1, 1)
            """, VaultRowKey(records[0].id).values)
        let isSignalled = Mutex(false)
        let timeout = VaultTimeout { isSignalled.withLock(\.self) ? .zero : .seconds(3600) }
        let store = SQLVaultStore(try fixture.connector(timeout))
        let observer = try fixture.connect()
        async let failed: VaultError? = Task.detached {
            do throws(VaultError) {
                try store.put(records)
                return nil
            } catch { return error }
        }.value
        try await eventually("the copy waits") {
            try !observer.run(
                """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                    AND wait_event_type = 'Lock' AND query LIKE 'COPY%'
                """
            ).isEmpty
        }
        isSignalled.withLock { $0 = true }
        let error = await failed
        #expect(error?.isTemporary == true, "\(String(describing: error))")
        isSignalled.withLock { $0 = false }
        _ = try other.run("ROLLBACK")
        try store.put(records)
        #expect(try store.all().count == records.count)
    }

    /// Two imports of the same tokens: each token is stored once, and neither fails.
    @Test(.timeLimit(.minutes(5)), arguments: SQLBackend.available)
    func `who finds a token that another one stored meanwhile decides again`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
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
                        try store.change(part.map(\.user), releasing: nil) { page in
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
