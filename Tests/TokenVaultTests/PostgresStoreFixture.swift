import Lifecycle
import TestSupport

@testable import TokenVault

/// A database of its own for one vault.
struct PostgresStoreFixture: SQLStoreFixture {
    let server: PostgresServer
    let url: String

    /// - Parameters:
    ///   - server: the shared one when nil.
    ///   - options: of the database.
    init(on server: PostgresServer? = nil, _ options: String = "") async throws {
        if let server { self.server = server } else { self.server = try await .shared() }
        url = try await self.server.database(options)
    }

    /// A database that stores any bytes as text.
    static func withoutEncoding() async throws -> Self {
        try await Self(
            on: nil,
            "TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc")
    }

    func connector(_ timeout: VaultTimeout) throws -> any DatabaseConnector {
        try TokenVault.connector(of: url, timeout: timeout)
    }

    let explain = "EXPLAIN "
}
