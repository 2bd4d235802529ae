import SIWALifecycle

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Keeps others from writing to the vault's tables.
final class DatabaseLock: @unchecked Sendable {
    private let database: any Database

    init(_ url: String) throws {
        database = try connector(of: url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false)
        guard !url.hasPrefix("sqlite:") else {
            _ = try database.run("BEGIN IMMEDIATE", [])
            return
        }
        _ = try database.run("BEGIN", [])
        _ = try database.run("LOCK TABLE vault_token, code_journal IN EXCLUSIVE MODE", [])
    }

    deinit { _ = try? database.run("ROLLBACK", []) }
}
