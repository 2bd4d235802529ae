import SIWALifecycle
import SIWATestSupport

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// A file of its own for one vault.
struct SQLiteStoreFixture: SQLStoreFixture {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path("vault.db") }

    var url: String { "sqlite:\(path)" }

    func connector(_ timeout: StoreTimeout) throws -> any DatabaseConnector {
        try SIWADatabases.connector(of: url, timeout: timeout)
    }

    let explain = "EXPLAIN QUERY PLAN "
}
