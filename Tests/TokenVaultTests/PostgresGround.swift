import SignInWithApple
import TestSupport

@testable import TokenVault

/// A database of its own for one vault.
struct PostgresGround: Ground {
    let server: PostgresServer
    let url: String

    /// - Parameter server: the shared one when nil.
    init(on server: PostgresServer? = nil) async throws {
        if let server { self.server = server } else { self.server = try await .shared() }
        url = try await self.server.database()
    }

    func store() throws -> any VaultStore { try store(patience: .seconds(60)) }

    func store(patience: Duration, schema: Schema = .current) throws -> any VaultStore {
        SQLVaultStore(try place(of: url, patience: patience), schema: schema)
    }

    func passTime() {}

    /// Changes what is stored behind everybody's back.
    @discardableResult func run(_ sql: String) async throws -> String {
        try await server.run(sql, on: url)
    }
}
