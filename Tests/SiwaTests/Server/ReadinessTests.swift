import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// What makes a running server unready, each with its reason: `/readyz` proves what it says.
@Suite(.blocking) struct ReadinessTests {
    /// What happens to a database, and what `/readyz` then says.
    enum Damage: String, CaseIterable, CustomTestStringConvertible {
        case keyTable, inbox, outbox, index, wrongKey, schema, sealedRows

        var testDescription: String { rawValue }

        /// The statement, with the check of another key as its first value.
        var statement: String {
            switch self {
            case .keyTable: "ALTER TABLE vault_key RENAME TO lost"
            case .inbox: "ALTER TABLE inbox_event RENAME TO lost"
            case .outbox: "ALTER TABLE revocation_job RENAME TO lost"
            case .index: "DROP INDEX inbox_event_retry"
            case .wrongKey: "UPDATE vault_key SET check_value = $1"
            case .schema: "UPDATE server_schema SET version = version + 100"
            case .sealedRows: "UPDATE vault_token SET sealed = $1"
            }
        }

        var reason: String {
            switch self {
            case .keyTable: "vault_key"
            case .inbox: "inbox_event"
            case .outbox: "revocation_job"
            case .index: "this makes it again: CREATE INDEX inbox_event_retry ON inbox_event"
            case .wrongKey: "key 1 is not the key 1 of this vault"
            case .schema: "version"
            case .sealedRows: "cannot be decrypted"
            }
        }
    }

    /// A server whose notifications the test signs.
    private func receiver(
        of fixture: ServerFixture
    ) async throws -> (ServerProcess, NotificationSigner) {
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        let server = try await fixture.serve(
            fixture.listeners + [.init("jwks_file", "keys.json")])
        return (server, signer)
    }

    @Test(arguments: VaultBackend.available, Damage.allCases)
    func `a database that is not whole makes the server unready, with the reason`(
        _ backend: VaultBackend, _ damage: Damage
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2, 3])
        let server = try await fixture.serve(fixture.listeners)
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        let other = try VaultKeyRing(VaultKeyRing.newLine(number: 1)).check(ofKey: 1)
        let needsValue = damage.statement.contains("$1")
        try fixture.vault.run(
            damage.statement, needsValue ? [.bytes(other.sealed)] : [])
        try await eventually("\(damage) makes it unready") {
            let answer = try await server.call("metrics", "GET", "/readyz")
            return answer.status == 503 && answer.body.contains(damage.reason)
        }
        let text = try await server.call("metrics", "GET", "/readyz").body
        #expect(text.hasPrefix("not ready\ndatabase: ") && typeNames(in: text) == [], "\(text)")
        let page = try await server.call("metrics", "GET", "/").body
        #expect(page.contains("The database cannot be used") && page.contains(damage.reason))
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `a table that is back leaves no problem behind`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2, 3])
        let server = try await fixture.serve(fixture.listeners)
        try fixture.vault.run("ALTER TABLE vault_token RENAME TO lost")
        let user = JSON.string(fixture.vault.people.userID(1))
        try await eventually("calls and the heartbeat fail") {
            let answer = try await server.api("POST", "/v1/refresh", ["user_id": user])
            let ready = try await server.call("metrics", "GET", "/readyz")
            return (answer.status ?? 0) >= 500 && ready.status == 503
        }
        try fixture.vault.run("ALTER TABLE lost RENAME TO vault_token")
        try await eventually("it is ready", limit: .seconds(60)) {
            try await server.call("metrics", "GET", "/readyz").status == 200
        }
        let status = try await server.api("GET", "/v1/status")
        #expect(!status.body.contains("could not be read"), "\(status)")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `a column that is missing is a fault of the vault`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        #expect(try await server.stop().ending == .exit(0))
        func check() async throws -> ProgramResult {
            try await fixture.apple.siwa(["vault", "check"], environment: fixture.environment)
        }
        #expect(try await check().exitCode == 0)
        try fixture.vault.run("ALTER TABLE inbox_event RENAME COLUMN last_error TO lost")
        let result = try await check()
        #expect(result.exitCode == 3 && result.errors.contains("last_error"), "\(result)")
    }

    /// As when a database is renamed, or a failover or a pooler leads to another installation's.
    @Test(arguments: VaultBackend.available)
    func `another vault in the place of the database gets nothing, and is asked for nothing`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1])
        let (server, signer) = try await receiver(of: fixture)
        let user = fixture.vault.people.userID(1)
        #expect(try await server.post(try signer.body("event-1", about: user)).status == 200)
        let other = try VaultKeyRing(VaultKeyRing.newLine(number: 1)).check(ofKey: 1)
        for statement in [
            "ALTER TABLE vault_key RENAME TO own_key",
            "CREATE TABLE vault_key AS SELECT * FROM own_key",
        ] { try fixture.vault.run(statement) }
        try fixture.vault.run("UPDATE vault_key SET check_value = $1", [.bytes(other.sealed)])
        #expect(try await server.post(try signer.body("event-2", about: user)).status == 503)
        #expect(try await server.api("DELETE", "/v1/users/\(user)").status == 503)
        let revoked = try await server.api("POST", "/v1/revoke", ["user_id": .string(user)])
        #expect(revoked.status == 503, "\(revoked)")
        try await eventually("the reason is shown") {
            try await server.call("metrics", "GET", "/readyz").body
                .contains("key 1 is not the key 1 of this vault")
        }
        for statement in ["DROP TABLE vault_key", "ALTER TABLE own_key RENAME TO vault_key"] {
            try fixture.vault.run(statement)
        }
        #expect(try await server.post(try signer.body("event-3", about: user)).status == 200)
        try await eventually("it is ready", limit: .seconds(60)) {
            try await server.call("metrics", "GET", "/readyz").status == 200
        }
        #expect(try await server.stop().ending == .exit(0))
        let events = try await fixture.inbox().map { $0["jti"]?.string ?? "" }
        #expect(events.count == 2 && !events.contains("event-2"), "\(events)")
    }

    @Test func `a database file that was replaced receives nothing more, and the reason is shown`()
        async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        let (server, signer) = try await receiver(of: fixture)
        #expect(try await server.post(try signer.body("event-1", about: "001.a.1")).status == 200)
        for suffix in ["", "-wal", "-shm"] {
            let file = fixture.apple.folder.path("vault.db") + suffix
            try FileManager.default.moveItem(atPath: file, toPath: file + ".old")
        }
        #expect(try await server.post(try signer.body("event-2", about: "001.a.1")).status == 503)
        try await eventually("it is not ready") {
            let answer = try await server.call("metrics", "GET", "/readyz")
            return answer.status == 503
                && answer.body.contains("deleted, moved or replaced while it was open")
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `an older copy in the place of an open file gets nothing of that file's log`()
        async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        _ = try await fixture.vault.store([1])
        let vault = fixture.apple.folder.path("vault.db")
        let copy = fixture.apple.folder.path("copy.db")
        try fixture.vault.run("VACUUM INTO '\(copy)'")
        let (server, signer) = try await receiver(of: fixture)
        #expect(try await server.post(try signer.body("event-1", about: "001.a.1")).status == 200)
        let log = try Data(contentsOf: URL(filePath: vault + "-wal"))
        let older = try Data(contentsOf: URL(filePath: copy))
        try #require(rename(vault, vault + ".kept") == 0 && rename(copy, vault) == 0)
        for arguments in [["vault", "check"], ["status"], ["inbox", "list"]] {
            let result = try await fixture.apple.siwa(
                arguments, environment: fixture.environment)
            #expect(result.ending == .exit(3), "\(result)")
            #expect(result.errors.contains("it was put in that file's place"), "\(result)")
        }
        // The server's own connections, also those which it opens later.
        _ = try await server.api("GET", "/v1/status")
        try await eventually("it is not ready") {
            try await server.call("metrics", "GET", "/readyz").status == 503
        }
        #expect(try await server.post(try signer.body("event-2", about: "001.a.1")).status == 503)
        #expect(try Data(contentsOf: URL(filePath: vault)) == older)
        #expect(try Data(contentsOf: URL(filePath: vault + "-wal")).prefix(log.count) == log)
        try #require(rename(vault, copy) == 0 && rename(vault + ".kept", vault) == 0)
        #expect(try await server.stop().ending == .exit(0))
        let events = try await fixture.apple.siwa(
            ["inbox", "list", "--json"], environment: fixture.environment)
        #expect(events.output.contains("event-1"), "\(events)")
    }

    @Test(arguments: ["-wal", "-shm"])
    func
        `a part of the vault that was deleted while it was open is the reason, and nothing is written`(
            _ suffix: String
        ) async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        let (server, signer) = try await receiver(of: fixture)
        #expect(try await server.post(try signer.body("event-1", about: "001.a.1")).status == 200)
        let part = fixture.apple.folder.path("vault.db") + suffix
        try #require(rename(part, part + ".kept") == 0)
        #expect(try await server.post(try signer.body("event-2", about: "001.a.1")).status == 503)
        for arguments in [["vault", "check"], ["status"]] {
            let result = try await fixture.apple.siwa(arguments, environment: fixture.environment)
            #expect(result.ending == .exit(3), "\(result)")
            #expect(result.errors.contains("\(suffix)'"), "\(result)")
            #expect(result.errors.contains("save the vault first"), "\(result)")
        }
        try await eventually("it is not ready") {
            let answer = try await server.call("metrics", "GET", "/readyz")
            return answer.status == 503 && answer.body.contains("\(suffix)' was deleted")
        }
        try #require(rename(part + ".kept", part) == 0)
        try await eventually("it is ready", limit: .seconds(60)) {
            try await server.call("metrics", "GET", "/readyz").status == 200
        }
        #expect(try await server.post(try signer.body("event-2", about: "001.a.1")).status == 200)
        #expect(try await server.stop().ending == .exit(0))
        let events = try await fixture.apple.siwa(
            ["inbox", "list", "--json"], environment: fixture.environment)
        #expect(events.output.contains("event-1") && events.output.contains("event-2"), "\(events)")
    }

    /// What an administrator of PostgreSQL does to the tables.
    enum Refusal: String, CaseIterable {
        case trigger, schema

        var statements: [String] {
            switch self {
            case .trigger:
                [
                    """
                    CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN INSERT INTO audit_gone VALUES (1); RETURN NEW; END $$
                    """,
                    """
                    CREATE TRIGGER audit BEFORE INSERT ON inbox_event
                    FOR EACH ROW EXECUTE FUNCTION audit()
                    """,
                ]
            case .schema: ["ALTER SCHEMA public RENAME TO gone"]
            }
        }

        var cure: String {
            switch self {
            case .trigger: "DROP TRIGGER audit ON inbox_event"
            case .schema: "ALTER SCHEMA gone RENAME TO public"
            }
        }

        var words: String {
            switch self {
            case .trigger: "audit_gone"
            case .schema: "may use no schema of its search_path"
            }
        }
    }

    @Test(
        .enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"),
        arguments: Refusal.allCases)
    func `what PostgreSQL refuses is said, and no record is called damaged`(_ refusal: Refusal)
        async throws
    {
        let fixture = try await ServerFixture(.postgres)
        _ = try await fixture.vault.store([1])
        let (server, signer) = try await receiver(of: fixture)
        for statement in refusal.statements { try fixture.vault.run(statement) }
        var number = 0
        func post() async throws -> Int? {
            number += 1
            return try await server.post(try signer.body("event-\(number)", about: "001.a.1"))
                .status
        }
        if refusal == .trigger { #expect(try await post() == 503) }
        try await eventually("it is said") {
            let text = try await server.call("metrics", "GET", "/readyz").body
            let status = try await server.api("GET", "/v1/status").body
            return text.contains(refusal.words) && status.contains(refusal.words)
        }
        let status = try await server.api("GET", "/v1/status").body
        #expect(!status.contains("could not be read"), "\(status)")
        try fixture.vault.run(refusal.cure)
        try await eventually("it is ready", limit: .seconds(60)) {
            try await server.call("metrics", "GET", "/readyz").status == 200
        }
        #expect(try await post() == 200)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `whoever only looks does not wait behind writes that wait for a lock`() async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        let (server, signer) = try await receiver(of: fixture)
        let lock = try WriteLock(of: fixture.apple.folder.path("vault.db"))
        for (listener, path) in [("metrics", "/"), ("metrics", "/metrics"), ("api", "/v1/status")] {
            let isOver = Atomic(false)
            let body = try signer.body("event\(path)", about: "001.a.1")
            async let written = {
                let answer = try await server.post(body)
                isOver.store(true, ordering: .sequentiallyConsistent)
                return answer
            }()
            try await Task.sleep(for: .milliseconds(500))
            #expect(try await server.call(listener, "GET", path).status == 200, "\(path)")
            let waited = isOver.load(ordering: .sequentiallyConsistent)
            #expect(!waited, "\(path)")
            #expect(try await written.status == 503)
        }
        withExtendedLifetime(lock) {}
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `one damaged record is no reason to receive nothing`(_ backend: VaultBackend) async throws
    {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2, 3])
        let server = try await fixture.serve(fixture.listeners)
        try fixture.vault.run(
            "UPDATE vault_token SET sealed = $1 WHERE user_id = $2",
            [.bytes([1, 2, 3]), .text(fixture.vault.people.userID(1))])
        // Longer than between two heartbeats.
        try await Task.sleep(for: .seconds(12))
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        #expect(try await server.stop().ending == .exit(0))
    }

    /// As on a full disk of the database, which only who writes meets.
    @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
    func `check repeats what the running server says of its database`() async throws {
        let fixture = try await ServerFixture(.postgres)
        let server = try await fixture.serve(fixture.listeners)
        let listen = JSON.string(try server.place("metrics"))
        try fixture.vault.run(
            """
            CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$
            """)
        try fixture.vault.run(
            """
            CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON server_instance
            EXECUTE FUNCTION full_disk()
            """)
        try await eventually("it is not ready", limit: .seconds(60)) {
            try await server.call("metrics", "GET", "/readyz").status == 503
        }
        try fixture.configure([.init("metrics", ["listen": listen])])
        let checked = try await fixture.run("check")
        #expect(checked.ending == .exit(0), "\(checked)")
        #expect(
            checked.errors.contains("warning: the running siwa-server is not ready: database: "),
            "\(checked)")
        #expect(checked.errors.contains("no space left"), "\(checked)")
        #expect(checked.errors.contains("make room"), "\(checked)")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
    func `a database that became read-only makes the server unready`() async throws {
        let postgres = try await PostgresServer()
        let fixture = try await ServerFixture(.postgres, on: postgres)
        let server = try await fixture.serve(fixture.listeners)
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        try await postgres.demote()
        try await eventually("it is not ready", limit: .seconds(60)) {
            try await server.call("metrics", "GET", "/readyz").status == 503
        }
        let text = try await server.call("metrics", "GET", "/readyz").body
        #expect(text.contains("a standby, which is read-only"), "\(text)")
        #expect(try await server.stop().ending == .exit(0))
    }
}
