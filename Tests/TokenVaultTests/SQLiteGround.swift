import SignInWithApple
import TestSupport

@testable import TokenVault

/// A file of its own for one vault.
struct SQLiteGround: SQLGround {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path("vault.db") }

    func place(_ patience: VaultPatience) throws -> any DatabasePlace {
        try TokenVault.place(of: "sqlite:\(path)", patience: patience)
    }

    let explain = "EXPLAIN QUERY PLAN "
}
