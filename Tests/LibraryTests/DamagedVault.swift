import SIWALifecycle

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Runs a statement in the database of a vault, as another user with write access.
func change(_ url: String, _ statement: String) throws {
    let database = try connector(of: url, timeout: .eachStatement(.seconds(60)))
        .connect(creating: false)
    _ = try database.run(statement)
}

/// Keeps others from writing to a vault in SQLite.
final class DatabaseWriteLock {
    private let database: any Database

    init(_ url: String) throws {
        database = try connector(of: url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false)
        _ = try database.run("BEGIN IMMEDIATE")
    }

    func release() throws { _ = try database.run("ROLLBACK") }
}
