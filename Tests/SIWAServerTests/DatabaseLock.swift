import Lifecycle

@testable import TokenVault

/// Locks an SQLite database for writing.
final class DatabaseLock: @unchecked Sendable {
    private let database: any Database

    init(_ url: String) throws {
        database = try connector(of: url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false)
        _ = try database.run("BEGIN IMMEDIATE", [])
    }

    deinit { _ = try? database.run("ROLLBACK", []) }
}
