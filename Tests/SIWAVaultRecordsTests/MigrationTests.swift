import Foundation
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// The migrations to schemas that a later siwa may have, which are made up here.
@Suite(.timeLimit(.minutes(5)), .blocking) struct MigrationTests {
    /// Tables that share one version.
    enum Tables: String, Codable, CaseIterable, CustomTestStringConvertible {
        case vault, server

        var testDescription: String { rawValue }

        private var schema: Schema {
            switch self {
            case .vault: .vault
            case .server: .server
            }
        }

        /// A table that ``next(_:)`` changes.
        var changed: String {
            switch self {
            case .vault: "vault_token"
            case .server: "server_count"
            }
        }

        /// The schema of the next siwa: another column, with a value in every row.
        ///
        /// - Parameter more: the steps after that.
        func next(_ more: Schema.Step...) -> Schema {
            let changed = changed
            var next = schema
            next.migrations.append { dialect in
                [
                    "ALTER TABLE \(changed) ADD COLUMN note \(dialect.text)",
                    "UPDATE \(changed) SET note = 'migrated'",
                ]
            }
            next.migrations += more
            return next
        }

        /// Uses the tables as the present siwa.
        func use(_ fixture: any SQLStoreFixture) throws {
            switch self {
            case .vault: _ = try fixture.store().keyChecks()
            case .server: try fixture.serverStore().check()
            }
        }

        func version(_ fixture: any SQLStoreFixture) throws -> Int? {
            try fixture.run("SELECT version FROM \(schema.table)").first?.first?.integer
        }
    }

    /// More than the databases keep in memory until a transaction ends.
    private static let records = (1...300).map {
        VaultRecord(.sample($0), sealed: Array(repeating: 7, count: 20_000))
    }

    private static func prepared(_ backend: SQLBackend) async throws -> any SQLStoreFixture {
        let fixture = try await backend.fixture()
        _ = try fixture.preparedServerStore()
        try fixture.store().put(records)
        return fixture
    }

    /// Opens a database as a program with this schema does.
    private static func open(_ connector: any DatabaseConnector, _ schema: Schema) throws {
        try ConnectionPool(connector, schema).transaction(.reading) { _ in }
    }

    private static func notes(
        _ tables: Tables, _ fixture: any SQLStoreFixture
    ) throws -> [[Value]] {
        try fixture.run("SELECT DISTINCT note FROM \(tables.changed)")
    }

    @Test(arguments: SQLBackend.available, Tables.allCases)
    func `older tables are migrated once, with what is in them`(
        _ backend: SQLBackend, _ tables: Tables
    ) async throws {
        let fixture = try await Self.prepared(backend)
        let before = try #require(try tables.version(fixture))
        let pending = try fixture.connect().transaction(.writing) {
            database throws(DatabaseFailure) in
            try tables.next().pendingChange(in: database, "the test")
        }
        #expect(pending?.hasSuffix(" migrated from version \(before) to \(before + 1)") == true)
        for _ in 1...2 {
            try Self.open(fixture.connector(timeout: .seconds(60)), tables.next())
            #expect(try tables.version(fixture) == before + 1)
            #expect(try Self.notes(tables, fixture) == [[.text("migrated")]])
        }
        try fixture.run("UPDATE vault_schema SET version = \(Schema.vault.version)")
        #expect(try fixture.store().all() == Self.records)
    }

    @Test(arguments: SQLBackend.available, Tables.allCases)
    func `a migration that is killed half-way leaves nothing, and is done by the next program`(
        _ backend: SQLBackend, _ tables: Tables
    ) async throws {
        let fixture = try await Self.prepared(backend)
        let before = try tables.version(fixture)
        let url = fixture.url
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [url = url as String, tables = tables as Tables] in
            let connector = try connector(of: url, timeout: .eachStatement(.seconds(60)))
            try Self.open(
                connector,
                tables.next { _ in
                    kill(getpid(), SIGKILL)
                    return []
                })
        }
        #expect(try tables.version(fixture) == before)
        #expect(throws: DatabaseFailure.self) { try Self.notes(tables, fixture) }
        try tables.use(fixture)
        #expect(try fixture.store().all() == Self.records)
        try Self.open(fixture.connector(timeout: .seconds(60)), tables.next())
        #expect(try Self.notes(tables, fixture) == [[.text("migrated")]])
    }

    @Test(arguments: SQLBackend.available, Tables.allCases)
    func `a failed migration leaves no change`(
        _ backend: SQLBackend, _ tables: Tables
    ) async throws {
        let fixture = try await Self.prepared(backend)
        #expect(throws: StoreError.self) {
            try Self.open(
                fixture.connector(timeout: .seconds(60)),
                tables.next { _ in ["SELECT * FROM none"] })
        }
        try tables.use(fixture)
        #expect(throws: DatabaseFailure.self) { try Self.notes(tables, fixture) }
    }

    @Test(arguments: SQLBackend.available, Tables.allCases)
    func `an older program beside the migration is refused afterwards, and changes nothing`(
        _ backend: SQLBackend, _ tables: Tables
    ) async throws {
        let fixture = try await Self.prepared(backend)
        let (vault, server) = (try fixture.store(), try fixture.serverStore())
        _ = try vault.keyChecks()
        try server.check()
        try Self.open(fixture.connector(timeout: .seconds(60)), tables.next())
        let version = try tables.version(fixture)
        var calls: [() throws -> Void] = [
            { try server.check() }, { try server.prepare(isAlone: true) },
            { try tables.use(fixture) },
        ]
        if tables == .vault { calls += [{ _ = try vault.keyChecks() }, { try vault.put([]) }] }
        for call in calls { #expect(try kind(call) == .tooNew) }
        #expect(try tables.version(fixture) == version)
        guard tables == .vault else { return }
        let siwa = try await Executable.product("siwa").run(
            "vault", "list", environment: ["SIWA_VAULT_URL": fixture.url])
        #expect(siwa.exitCode == 3, "\(siwa)")
        #expect(siwa.errors.contains("hint: install the newer siwa again"), "\(siwa)")
    }

    /// The tables are looked at in one transaction, and migrated in the next.
    @Test(arguments: SQLBackend.available, Tables.allCases)
    func `a migration that a newer program forestalls does not lower the version`(
        _ backend: SQLBackend, _ tables: Tables
    ) async throws {
        let fixture = try await Self.prepared(backend)
        let connector = try fixture.connector(timeout: .seconds(60))
        let newest = tables.next { _ in ["CREATE TABLE newest (number INTEGER)"] }
        let isFirst = Mutex(true)
        let watched = WatchedConnector(base: connector) { sql in
            guard sql == "COMMIT",
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else { return }
            do { try Self.open(connector, newest) } catch { Issue.record(error) }
        }
        #expect(try kind { try Self.open(watched, tables.next()) } == .tooNew)
        #expect(try tables.version(fixture) == newest.version)
        #expect(try fixture.run("SELECT number FROM newest") == [])
    }

    @Test(arguments: SQLBackend.available)
    func `a vault from before the first release is refused, and not changed`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await Self.prepared(backend)
        for version in 1..<Schema.vault.first {
            try fixture.run("UPDATE vault_schema SET version = \(version)")
            for schema in [.vault, Tables.vault.next()] {
                #expect(
                    try kind {
                        try Self.open(fixture.connector(timeout: .seconds(60)), schema)
                    } == .tooOld)
            }
            #expect(try kind { try fixture.serverStore().prepare(isAlone: true) } == .tooOld)
            #expect(try kind { _ = try fixture.serverStore().examine() } == .tooOld)
            #expect(try Tables.vault.version(fixture) == version)
        }
    }

    private func kind(_ call: () throws -> Void) throws -> StoreError.Kind? {
        #expect(throws: StoreError.self, performing: call)?.kind
    }
}
