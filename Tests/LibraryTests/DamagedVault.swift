import Lifecycle

@testable import TokenVault

/// Runs a statement in the database of a vault, as somebody else who can write to it.
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
