import SignInWithApple
import TestSupport

@testable import TokenVault

/// A database of its own for one vault.
struct PostgresGround: SQLGround {
    let server: PostgresServer
    let url: String

    /// - Parameter server: the shared one when nil.
    init(on server: PostgresServer? = nil) async throws {
        if let server { self.server = server } else { self.server = try await .shared() }
        url = try await self.server.database()
    }

    func place(_ patience: VaultPatience) throws -> any DatabasePlace {
        try TokenVault.place(of: url, patience: patience)
    }

    let explain = "EXPLAIN "
}
