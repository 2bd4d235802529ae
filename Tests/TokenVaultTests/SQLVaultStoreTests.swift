import SignInWithApple
import Testing

@testable import TokenVault

/// What stores in SQLite and on PostgreSQL have in common beyond what every store promises.
@Suite struct SQLVaultStoreTests {
    @Test(arguments: SQLGrounds.here)
    func `a newer vault is left alone`(_ grounds: SQLGrounds) async throws {
        let ground = try await grounds.ground()
        try ground.vault().put([VaultRecord(.sample(1))])
        _ = try ground.connect().run("UPDATE vault_schema SET version = 99")
        for call: (any VaultStore) throws -> Void in [
            { _ = try $0.keyChecks() }, { try $0.put([]) }, { _ = try $0.all() },
        ] {
            let error = #expect(throws: VaultError.self) { try call(ground.store()) }
            #expect(error?.kind == .tooNew)
            #expect(error?.message.contains("99") == true)
        }
    }

    @Test(arguments: SQLGrounds.here)
    func `an older vault is brought up to date, once`(_ grounds: SQLGrounds) async throws {
        let ground = try await grounds.ground()
        try ground.vault().put([VaultRecord(.sample(1))])
        let newer = Schema(
            migrations: Schema.current.migrations + [
                { ["ALTER TABLE vault_token ADD COLUMN note \($0.text)"] },
                { _ in ["UPDATE vault_token SET note = 'moved'"] },
            ])
        for _ in 1...2 {
            let store = try ground.store(patience: .seconds(60), newer)
            #expect(try store.keyChecks() == [.first])
            #expect(try store.all() == [VaultRecord(.sample(1))])
        }
        #expect(try ground.connect().run("SELECT note FROM vault_token") == [[.text("moved")]])
        let error = #expect(throws: VaultError.self) { try ground.store().keyChecks() }
        #expect(error?.kind == .tooNew)
    }

    @Test(arguments: SQLGrounds.here)
    func `a vault of any older version works on`(_ grounds: SQLGrounds) async throws {
        for version in 1..<Schema.current.version {
            let ground = try await grounds.ground()
            let older = try ground.store(
                patience: .seconds(60),
                Schema(migrations: Array(Schema.current.migrations.prefix(version))))
            try older.create(.first)
            try older.put([VaultRecord(.sample(1))])
            let store = try ground.store()
            #expect(try store.keyChecks() == [.first])
            #expect(try store.claim(.long("a")) == [.sample(1)])
            try store.release([.sample(1)], by: "a")
            #expect(try store.claim(.long("b")) == [.sample(1)])
        }
    }

    @Test(arguments: SQLGrounds.here)
    func `nothing is left of a migration that fails`(_ grounds: SQLGrounds) async throws {
        let ground = try await grounds.ground()
        _ = try ground.vault()
        let broken = Schema(
            migrations: Schema.current.migrations + [
                { ["CREATE TABLE extra (a \($0.text))", "CREATE TABLE extra (a \($0.text))"] }
            ])
        #expect(throws: VaultError.self) {
            try ground.store(patience: .seconds(60), broken).keyChecks()
        }
        #expect(try ground.store().keyChecks() == [.first])
        #expect(throws: DatabaseFailure.self) { try ground.connect().run("SELECT * FROM extra") }
    }

    @Test(arguments: SQLGrounds.here)
    func `a record that cannot be understood is named`(_ grounds: SQLGrounds) async throws {
        let ground = try await grounds.ground()
        let store = try ground.vault()
        try store.put([VaultRecord(.sample(1))])
        let database = try ground.connect()
        try ground.dropConstraints(on: database)
        _ = try database.run("UPDATE vault_token SET state = 'odd'")
        for call: (any VaultStore) throws -> Void in [
            { _ = try $0.record(of: .sample(1)) }, { _ = try $0.all() },
            { try $0.change([.sample(1)], releasedBy: nil) { _, _ in .remove } },
        ] {
            let error = #expect(throws: VaultError.self) { try call(store) }
            #expect(error?.kind == .damaged)
            #expect(error?.message.contains("'u000001'") == true)
            #expect(error?.message.contains("'com.example.app'") == true)
        }
        let error = #expect(throws: VaultError.self) { try store.counts(of: nil) }
        #expect(error?.kind == .damaged)
    }

    @Test(arguments: SQLGrounds.here)
    func `a key that was never registered is refused`(_ grounds: SQLGrounds) async throws {
        let store = try (await grounds.ground()).vault()
        let records = [VaultRecord(.sample(1)), VaultRecord(.sample(2), key: 7)]
        let error = #expect(throws: VaultError.self) { try store.put(records) }
        #expect(error?.kind == .key)
        #expect(try store.all() == [])
    }

    @Test(arguments: SQLGrounds.here)
    func `a vault that others hold is busy, and can be read`(_ grounds: SQLGrounds) async throws {
        let ground = try await grounds.ground()
        try ground.vault().put([VaultRecord(.sample(1))])
        let other = try ground.connect()
        _ = try other.run(other.dialect.beginWriting)
        _ = try other.run("UPDATE vault_token SET version = 5")
        let store = try ground.store(patience: .seconds(2))
        let error = #expect(throws: VaultError.self) {
            try store.change([.sample(1)], releasedBy: nil) { _, _ in .remove }
        }
        #expect(error?.kind == .busy)
        #expect(try store.record(of: .sample(1))?.version == 1)
        _ = try other.run("COMMIT")
        #expect(try store.record(of: .sample(1))?.version == 5)
        try store.change([.sample(1)], releasedBy: nil) { _, _ in .remove }
        #expect(try store.all() == [])
    }
}
