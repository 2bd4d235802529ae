import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// A fixture whose vault is in an SQL database.
protocol SQLStoreFixture: StoreFixture {
    /// - Parameter timeout: how long others may hold what a call needs.
    func connector(_ timeout: StoreTimeout) throws -> any DatabaseConnector
    /// What the vault's database is called in settings.
    var url: String { get }
    /// Begins a query's text so that it answers how it would be run.
    var explain: String { get }
}

extension SQLStoreFixture {
    func connector(timeout: Duration) throws -> any DatabaseConnector {
        try connector(.eachStatement(timeout))
    }

    func store() throws -> any VaultStore { try store(timeout: .seconds(60)) }

    func store(timeout: Duration, _ schema: Schema = .vault) throws -> any VaultStore {
        SQLVaultStore(try connector(timeout: timeout), schema: schema)
    }

    /// The server's tables as one more process sees them.
    func serverStore(timeout: Duration = .seconds(60)) throws -> ServerStore {
        try ServerStore(url, timeout: .eachStatement(timeout))
    }

    /// A new vault with the server's tables in it.
    func preparedServerStore() throws -> ServerStore {
        _ = try vault()
        let store = try serverStore()
        try store.prepare(isAlone: true)
        return store
    }

    /// Runs a statement of the test's.
    @discardableResult
    func run(_ sql: String, _ values: Value...) throws -> [[Value]] {
        try connect().run(sql, values)
    }

    /// A connection without the functions of a vault.
    func connect() throws -> any Database {
        try connector(timeout: .seconds(60)).connect(creating: false)
    }

    func passTime() {}
}

/// The backend of this machine, for what all of them have in common.
enum SQLBackend: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    static let available = allCases.filter { $0 == .sqlite || PostgresServer.isAvailable }

    var testDescription: String { rawValue }

    func fixture() async throws -> any SQLStoreFixture {
        switch self {
        case .sqlite: try SQLiteStoreFixture()
        case .postgres: try await PostgresStoreFixture()
        }
    }
}

/// A connector whose connections begin with statements of a test's, and that remembers what was run.
struct WatchedConnector: DatabaseConnector {
    let base: any DatabaseConnector
    var first: [String] = []
    /// Called after each statement with its text.
    var after: @Sendable (String) -> Void = { _ in }
    let seen = Seen()

    final class Seen: Sendable {
        let statements = Mutex<[(sql: String, values: [Value])]>([])
        /// How many rows the statements returned.
        let rows = Mutex(0)
    }

    var name: String { base.name }

    func connect(creating: Bool) throws(DatabaseFailure) -> any Database {
        let database = WatchedDatabase(try base.connect(creating: creating), seen, after)
        for sql in first { _ = try database.run(sql) }
        return database
    }
}

private final class WatchedDatabase: Database {
    private let database: any Database
    private let seen: WatchedConnector.Seen
    private let after: @Sendable (String) -> Void

    init(
        _ database: any Database, _ seen: WatchedConnector.Seen,
        _ after: @escaping @Sendable (String) -> Void
    ) {
        (self.database, self.seen, self.after) = (database, seen, after)
    }

    var dialect: Dialect { database.dialect }
    var shell: String { database.shell }

    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]] {
        seen.statements.withLock { $0.append((sql, values)) }
        defer { after(sql) }
        let rows = try database.run(sql, values)
        seen.rows.withLock { $0 += rows.count }
        return rows
    }

    func copy(
        _ rows: [[Value]], into table: String, _ columns: [String]
    ) throws(DatabaseFailure) {
        guard dialect.takesArrays else { return try insertEach(rows, into: table, columns) }
        seen.statements.withLock { $0.append(("COPY \(table)", [])) }
        try database.copy(rows, into: table, columns)
    }

    func rollBack() { database.rollBack() }

    func faults(of tables: [String]) throws(DatabaseFailure) -> [String] {
        try database.faults(of: tables)
    }
}
