import SignInWithApple
import TestSupport

@testable import TokenVault

/// A file of its own for one vault.
struct SQLiteGround: Ground {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path("vault.db") }

    func store() throws -> any VaultStore { try store(patience: .seconds(60)) }

    func store(patience: Duration, schema: Schema = .current) throws -> any VaultStore {
        SQLVaultStore(try place(of: "sqlite:\(path)", patience: patience), schema: schema)
    }

    func passTime() {}
}
