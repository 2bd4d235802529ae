import Glibc
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Guarantees of the stores in SQLite and on PostgreSQL beyond ``StoreContract``.
@Suite(.blocking) struct SQLVaultStoreTests {
    @Test(arguments: SQLBackend.available)
    func `a newer vault is not changed`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        try fixture.vault().put([VaultRecord(.sample(1))])
        _ = try fixture.connect().run("UPDATE vault_schema SET version = 99")
        for call: (any VaultStore) throws -> Void in [
            { _ = try $0.keyChecks() }, { try $0.put([]) }, { _ = try $0.all() },
        ] {
            let error = #expect(throws: StoreError.self) { try call(fixture.store()) }
            #expect(error?.kind == .tooNew)
            #expect(error?.message.contains("99") == true)
        }
    }

    @Test(arguments: SQLBackend.available)
    func `a key that was never registered is refused`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.vault()
        let records = [VaultRecord(.sample(1)), VaultRecord(.sample(2), key: 7)]
        let error = #expect(throws: StoreError.self) { try store.put(records) }
        #expect(error?.kind == .key)
        #expect(try store.all() == [])
    }

    @Test(arguments: SQLBackend.available)
    func `a vault that other processes lock is busy, and can be read`(_ backend: SQLBackend)
        async throws
    {
        let fixture = try await backend.fixture()
        try fixture.vault().put([VaultRecord(.sample(1))])
        let other = try fixture.connect()
        _ = try other.run(other.dialect.beginWriting)
        _ = try other.run("UPDATE vault_token SET stored_at = 1700000005")
        let store = try fixture.store(timeout: .seconds(2))
        let error = #expect(throws: StoreError.self) {
            try store.change([.sample(1)], releasedBy: nil) { _, _ in .remove }
        }
        #expect(error?.kind == .busy)
        #expect(try store.record(of: .sample(1))?.number == 0)
        _ = try other.run("COMMIT")
        #expect(try store.record(of: .sample(1))?.number == 5)
        try store.change([.sample(1)], releasedBy: nil) { _, _ in .remove }
        #expect(try store.all() == [])
    }

    @Test(arguments: [false, true])
    func `a file that was deleted or replaced while it was open takes no changes`(
        _ isReplaced: Bool
    ) async throws {
        let fixture = try await SQLBackend.sqlite.fixture()
        let store = try fixture.vault()
        try store.put([VaultRecord(.sample(1))])
        for suffix in ["", "-wal", "-shm"] {
            let file = fixture.url.dropFirst("sqlite:".count) + suffix
            try #require(unlink(String(file)) == 0)
        }
        if isReplaced { try fixture.vault().put([VaultRecord(.sample(2))]) }
        for call: () throws -> Void in [
            { try store.put([VaultRecord(.sample(3))]) }, { _ = try store.all() },
        ] {
            let error = #expect(throws: StoreError.self, performing: call)
            #expect(error?.kind == .unusable)
            #expect(
                error?.message.hasSuffix("was deleted, moved or replaced while it was open") == true
            )
        }
        if isReplaced { #expect(try fixture.store().all().count == 1) }
    }
}
