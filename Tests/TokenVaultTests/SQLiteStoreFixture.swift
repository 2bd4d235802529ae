import Lifecycle
import TestSupport

@testable import TokenVault

/// A file of its own for one vault.
struct SQLiteStoreFixture: SQLStoreFixture {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path("vault.db") }

    var url: String { "sqlite:\(path)" }

    func connector(_ timeout: VaultTimeout) throws -> any DatabaseConnector {
        try TokenVault.connector(of: url, timeout: timeout)
    }

    let explain = "EXPLAIN QUERY PLAN "
}
