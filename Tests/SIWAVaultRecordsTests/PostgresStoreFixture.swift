import Foundation
import SIWACrypto
import SIWALifecycle
import SIWATestSupport

@testable import SIWADatabases
@testable import SIWAVaultRecords

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

    private init(server: PostgresServer, url: String) { (self.server, self.url) = (server, url) }

    /// A database that is reached by TLS.
    static func overTLS() async throws -> Self {
        let place = try await TLSPlace.shared.value
        let local = try await Self(on: place.server)
        return Self(
            server: place.server,
            url: "postgresql://siwa@127.0.0.1:\(place.server.port ?? 0)/\(local.name)"
                + "?sslmode=verify-full&sslrootcert=\(place.root)")
    }

    /// A database that stores any bytes as text.
    static func withoutEncoding() async throws -> Self {
        try await Self(
            on: nil,
            "TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc")
    }

    func connector(_ timeout: StoreTimeout) throws -> any DatabaseConnector {
        try SIWADatabases.connector(of: url, timeout: timeout)
    }

    let explain = "EXPLAIN "
}

/// A server with a certificate, and the authority that clients trust.
private struct TLSPlace {
    let server: PostgresServer
    let root: String
    private let folder: TemporaryFolder

    /// The one that all tests of this process share.
    static let shared = Task { try await Self() }

    private init() async throws {
        let name = ServerName.address("127.0.0.1")
        let now = Int(Date().timeIntervalSince1970)
        let authority = try CertificateAuthority(
            name: "Copy test", permitting: [name], validity: now - 60..<now + 86_400)
        folder = try TemporaryFolder()
        root = try folder.write("ca.pem", try authority.certificate.pemRepresentation())
        server = try await PostgresServer(TLSIdentity(authority, name))
    }
}
