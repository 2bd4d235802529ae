import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Failures of the server of a vault.
@Suite(
    .enabled(
        if: PostgresServer.isAvailable, "needs PostgreSQL's server: Debian's package postgresql"),
    .blocking) struct PostgresServerTests
{
    @Test func `a store works after its server's restart`() async throws {
        let server = try await PostgresServer()
        let fixture = try await PostgresStoreFixture(on: server)
        let store = try fixture.vault()
        try store.put([VaultRecord(.sample(1))])
        for ending in [server.stop, server.crash] {
            try await ending()
            let error = #expect(throws: StoreError.self) { try store.all() }
            #expect(error?.kind == .unreachable && error?.isTemporary == true)
            try await server.start()
            #expect(try store.all() == [VaultRecord(.sample(1))])
            try await ending()
            try await server.start()
            // This connection broke while idle.
            #expect(try store.claim(.long("a"), limit: 0) == [])
            #expect(try store.all() == [VaultRecord(.sample(1))])
        }
    }

    @Test(arguments: [1, 2])
    func `a transaction whose connection breaks is repeated once`(_ breaks: Int) async throws {
        let fixture = try await PostgresStoreFixture()
        let store = try fixture.vault()
        let other = try fixture.connect()
        var asked = 0
        func change() throws(StoreError) {
            try store.change([.sample(1)], releasedBy: nil) { user, record throws(StoreError) in
                #expect(record == nil)
                asked += 1
                if asked <= breaks { try lowering { try cutOthers(other) } }
                return .put(VaultRecord(user, number: asked))
            }
        }
        if breaks == 1 {
            try change()
            #expect(try store.all() == [VaultRecord(.sample(1), number: 2)])
        } else {
            let error = #expect(throws: StoreError.self) { try change() }
            #expect(error?.kind == .unreachable)
            #expect(try store.all() == [])
        }
        #expect(asked == 2)
    }

    /// Ends all other sessions of this database.
    private func cutOthers(_ database: any Database) throws {
        let cut = try database.run(
            """
            SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND application_name = 'siwa'
            """)
        #expect(cut == [[.integer(1)]])
    }

    @Test func `a claim skips rows that another transaction locks`() async throws {
        let fixture = try await PostgresStoreFixture()
        let store = try fixture.vault()
        try store.put(VaultUser.samples(3).map { VaultRecord($0) })
        let other = try fixture.connect()
        _ = try other.run("BEGIN")
        _ = try other.run("SELECT 1 FROM vault_token WHERE user_id = 'u000001' FOR UPDATE")
        #expect(try store.claim(.long("a")) == [.sample(0), .sample(2)])
    }

    @Test func `an acknowledged change is on disk, with all settings of the server`() async throws {
        let fixture = try await PostgresStoreFixture()
        _ = try await fixture.server.run(
            "ALTER ROLE siwa IN DATABASE \(fixture.name) SET synchronous_commit = off",
            on: fixture.url)
        let database = try fixture.connect()
        #expect(try database.run("SHOW synchronous_commit") == [[.text("on")]])
        #expect(try database.run("SHOW application_name") == [[.text("siwa")]])
        #expect(try database.run("SHOW client_encoding") == [[.text("UTF8")]])
    }

    @Test func `an invalid index is reported`() async throws {
        let fixture = try await PostgresStoreFixture()
        let store = try fixture.vault()
        _ = try fixture.connect().run(
            """
            UPDATE pg_index SET indisvalid = false
            WHERE indexrelid = 'vault_token_turn'::regclass
            """)
        #expect(try store.faults().map(\.text) == ["the index vault_token_turn is not valid"])
    }
}

extension PostgresStoreFixture {
    var name: String {
        String(url.split(separator: "?").first?.split(separator: "/").last ?? "")
    }
}

/// Makes any error the domain's.
private func lowering(_ body: () throws -> Void) throws(StoreError) {
    do { try body() } catch { throw StoreError(.unusable, "\(error)") }
}
