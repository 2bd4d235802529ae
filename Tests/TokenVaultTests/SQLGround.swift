import SignInWithApple
import Synchronization
import TestSupport
import Testing

@testable import TokenVault

/// A ground whose vault is in a database that speaks SQL.
protocol SQLGround: Ground {
    /// - Parameter patience: how long others may hold what a call needs.
    func place(_ patience: VaultPatience) throws -> any DatabasePlace
    /// Begins a query's text so that it answers how it would be run.
    var explain: String { get }
}

extension SQLGround {
    func place(patience: Duration) throws -> any DatabasePlace {
        try place(.eachStatement(patience))
    }

    func store() throws -> any VaultStore { try store(patience: .seconds(60)) }

    func store(patience: Duration, _ schema: Schema = .current) throws -> any VaultStore {
        SQLVaultStore(try place(patience: patience), schema: schema)
    }

    /// A connection that knows nothing of vaults.
    func connect() throws -> any Database {
        try place(patience: .seconds(60)).connect(creating: false)
    }

    func passTime() {}
}

/// The grounds of this machine, for what all of them have in common.
enum SQLGrounds: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgres

    static let here = allCases.filter { $0 == .sqlite || PostgresServer.isAvailable }

    var testDescription: String { rawValue }

    func ground() async throws -> any SQLGround {
        switch self {
        case .sqlite: try SQLiteGround()
        case .postgres: try await PostgresGround()
        }
    }
}

/// A place whose connections begin with statements of a test's, and that remembers what was run.
struct WatchedPlace: DatabasePlace {
    let place: any DatabasePlace
    var first: [String] = []
    let seen = Seen()

    final class Seen: Sendable {
        let statements = Mutex<[(sql: String, values: [Value])]>([])
    }

    var name: String { place.name }

    func connect(creating: Bool) throws(DatabaseFailure) -> any Database {
        let database = WatchedDatabase(try place.connect(creating: creating), seen)
        for sql in first { _ = try database.run(sql) }
        return database
    }
}

private final class WatchedDatabase: Database {
    private let database: any Database
    private let seen: WatchedPlace.Seen

    init(_ database: any Database, _ seen: WatchedPlace.Seen) {
        (self.database, self.seen) = (database, seen)
    }

    var dialect: Dialect { database.dialect }

    func run(_ sql: String, _ values: [Value]) throws(DatabaseFailure) -> [[Value]] {
        seen.statements.withLock { $0.append((sql, values)) }
        return try database.run(sql, values)
    }

    func rollBack() { database.rollBack() }

    func faults() throws(DatabaseFailure) -> [String] { try database.faults() }
}
