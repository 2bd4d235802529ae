import Lifecycle
import TestSupport
import Testing

@testable import TokenVault

/// What stores in SQLite and on PostgreSQL have in common beyond what every store promises.
@Suite(.blocking) struct SQLVaultStoreTests {
    @Test(arguments: SQLBackend.available)
    func `a newer vault is left alone`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        try fixture.vault().put([VaultRecord(.sample(1))])
        _ = try fixture.connect().run("UPDATE vault_schema SET version = 99")
        for call: (any VaultStore) throws -> Void in [
            { _ = try $0.keyChecks() }, { try $0.put([]) }, { _ = try $0.all() },
        ] {
            let error = #expect(throws: VaultError.self) { try call(fixture.store()) }
            #expect(error?.kind == .tooNew)
            #expect(error?.message.contains("99") == true)
        }
    }

    @Test(arguments: SQLBackend.available)
    func `an older vault is brought up to date, once`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        try fixture.vault().put([VaultRecord(.sample(1))])
        let newer = Schema.vault(
            migrations: Schema.vault.migrations + [
                { ["ALTER TABLE vault_token ADD COLUMN note \($0.text)"] },
                { _ in ["UPDATE vault_token SET note = 'moved'"] },
            ])
        for _ in 1...2 {
            let store = try fixture.store(timeout: .seconds(60), newer)
            #expect(try store.keyChecks() == [.first])
            #expect(try store.all() == [VaultRecord(.sample(1))])
        }
        #expect(try fixture.connect().run("SELECT note FROM vault_token") == [[.text("moved")]])
        let error = #expect(throws: VaultError.self) { try fixture.store().keyChecks() }
        #expect(error?.kind == .tooNew)
    }

    @Test(arguments: SQLBackend.available)
    func `nothing is left of a migration that fails`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        _ = try fixture.vault()
        let broken = Schema.vault(
            migrations: Schema.vault.migrations + [
                { ["CREATE TABLE extra (a \($0.text))", "CREATE TABLE extra (a \($0.text))"] }
            ])
        #expect(throws: VaultError.self) {
            try fixture.store(timeout: .seconds(60), broken).keyChecks()
        }
        #expect(try fixture.store().keyChecks() == [.first])
        #expect(throws: DatabaseFailure.self) { try fixture.connect().run("SELECT * FROM extra") }
    }

    @Test(arguments: SQLBackend.available)
    func `a key that was never registered is refused`(_ backend: SQLBackend) async throws {
        let store = try (await backend.fixture()).vault()
        let records = [VaultRecord(.sample(1)), VaultRecord(.sample(2), key: 7)]
        let error = #expect(throws: VaultError.self) { try store.put(records) }
        #expect(error?.kind == .key)
        #expect(try store.all() == [])
    }

    @Test(arguments: SQLBackend.available)
    func `a vault that others hold is busy, and can be read`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        try fixture.vault().put([VaultRecord(.sample(1))])
        let other = try fixture.connect()
        _ = try other.run(other.dialect.beginWriting)
        _ = try other.run("UPDATE vault_token SET stored_at = 1700000005")
        let store = try fixture.store(timeout: .seconds(2))
        let error = #expect(throws: VaultError.self) {
            try store.change([.sample(1)], releasedBy: nil) { _, _ in .remove }
        }
        #expect(error?.kind == .busy)
        #expect(try store.record(of: .sample(1))?.number == 0)
        _ = try other.run("COMMIT")
        #expect(try store.record(of: .sample(1))?.number == 5)
        try store.change([.sample(1)], releasedBy: nil) { _, _ in .remove }
        #expect(try store.all() == [])
    }
}
