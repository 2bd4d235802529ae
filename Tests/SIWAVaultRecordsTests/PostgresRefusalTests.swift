import Foundation
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// A server that cannot be used: the kind of error decides what a runbook does.
@Suite(
    .enabled(
        if: PostgresServer.isAvailable, "needs PostgreSQL's server: Debian's package postgresql"),
    .blocking) struct PostgresRefusalTests
{
    private func refusal(_ url: String) throws -> StoreError? {
        let store = SQLVaultStore(try connector(of: url, timeout: .eachStatement(.seconds(60))))
        return #expect(throws: StoreError.self) { try store.keyChecks() }
    }

    @Test func `a wrong password is refused and not shown`() async throws {
        let server = try await PostgresServer.shared()
        _ = try? await server.run(
            "CREATE ROLE locked LOGIN PASSWORD 'right'", on: server.url("postgres"))
        let folder = try #require(server.url("postgres").split(separator: "=").last)
        let error = try refusal("postgresql://locked:geheim@/postgres?host=\(folder)")
        #expect(error?.kind == .unusable)
        #expect(
            error?.message.contains("password authentication failed") == true,
            "\(String(describing: error))")
        #expect(error?.message.contains("geheim") == false)
        #expect(error?.message.contains("28P01") == false)
        let none = try refusal("postgresql://locked@/postgres?host=\(folder)")
        #expect(none?.kind == .unusable)
        let right = try refusal("postgresql://locked:right@/postgres?host=\(folder)")
        #expect(right?.kind == .notInitialized)
    }

    @Test func `a missing database is unusable`() async throws {
        let error = try refusal(try await PostgresServer.shared().url("nowhere"))
        #expect(error?.kind == .unusable)
        #expect(error?.message.contains("database \"nowhere\" does not exist") == true)
        #expect(error?.remedy?.hasSuffix("--template template0 nowhere") == true)
    }

    @Test func `the commands that create a missing role and database are printed`() async throws {
        let server = try await PostgresServer.shared()
        let error = try refusal(server.url("postgres", user: "no-body"))
        #expect(
            error?.remedy
                == "create the role: sudo -u postgres createuser no-body; or name another one in "
                + "vault.url", "\(String(describing: error))")
    }

    @Test func `a role that may not log in is let in, not created`() async throws {
        let server = try await PostgresServer.shared()
        _ = try await server.run("CREATE ROLE nologin NOLOGIN", on: server.url("postgres"))
        let error = try refusal(server.url("postgres", user: "nologin"))
        #expect(
            error?.remedy
                == "let the role log in: sudo -u postgres psql -c 'ALTER ROLE nologin LOGIN'; or "
                + "name another one in vault.url", "\(String(describing: error))")
    }

    @Test func `a role that may not connect is told the statement that lets it`() async throws {
        let fixture = try await PostgresStoreFixture()
        for statement in [
            "CREATE ROLE outsider LOGIN", "REVOKE CONNECT ON DATABASE \(fixture.name) FROM PUBLIC",
        ] { _ = try await fixture.server.run(statement, on: fixture.url) }
        let url = fixture.server.url(fixture.name, user: "outsider")
        let error = try refusal(url)
        #expect(error?.kind == .unusable)
        let remedy = try #require(error?.remedy)
        let statement = try #require(remedy.split(separator: "'").dropFirst().first)
        #expect(
            statement == "GRANT CONNECT ON DATABASE \"\(fixture.name)\" TO outsider",
            "\(remedy)")
        _ = try await fixture.server.run(String(statement), on: fixture.url)
        #expect(try refusal(url)?.message.contains("CONNECT") != true)
    }

    @Test func `a server that accepts no more connections is not reached, and holds no lock`()
        async throws
    {
        let server = try await PostgresServer.shared()
        _ = try await server.run(
            "CREATE ROLE crowded LOGIN CONNECTION LIMIT 0", on: server.url("postgres"))
        let error = try refusal(server.url("postgres", user: "crowded"))
        #expect(error?.kind == .unreachable && error?.isTemporary == true)
        #expect(error?.remedy?.contains("psql -c 'ALTER ROLE crowded CONNECTION LIMIT") == true)
    }

    @Test func `a table of which a policy hides rows is refused, not read as if it had fewer`()
        async throws
    {
        let fixture = try await PostgresStoreFixture()
        let store = SQLVaultStore(
            try connector(of: fixture.url, timeout: .eachStatement(.seconds(60))))
        try store.create(.first)
        for statement in [
            "CREATE ROLE partial LOGIN", "GRANT ALL ON ALL TABLES IN SCHEMA public TO partial",
            "ALTER TABLE vault_token ENABLE ROW LEVEL SECURITY",
        ] { _ = try await fixture.server.run(statement, on: fixture.url) }
        let url = fixture.server.url(fixture.name, user: "partial")
        let partial = SQLVaultStore(try connector(of: url, timeout: .eachStatement(.seconds(60))))
        let error = #expect(throws: StoreError.self) { _ = try partial.all() }
        #expect(error?.kind == .unusable && error?.message.contains("row-level security") == true)
        #expect(
            error?.remedy?.contains("ROW LEVEL SECURITY") == true, "\(String(describing: error))")
    }

    @Test func `every key that an administrator can drop is missed, and made again as printed`()
        async throws
    {
        let fixture = try await PostgresStoreFixture()
        let connector = try connector(of: fixture.url, timeout: .eachStatement(.seconds(60)))
        try SQLVaultStore(connector).create(.first)
        let server = ServerStore(connector)
        try server.prepare(isAlone: false)
        let database = try connector.connect(creating: false)
        let keys = try database.run(
            """
            SELECT conrelid::regclass::text, conname::text FROM pg_constraint
            WHERE contype IN ('p', 'u') AND connamespace = 'public'::regnamespace ORDER BY conname
            """)
        #expect(keys.count > 15)
        for key in keys.map({ $0.map { $0.text ?? "" } }) {
            _ = try database.run("ALTER TABLE \(key[0]) DROP CONSTRAINT \(key[1])")
            let error = #expect(throws: StoreError.self) { try server.check() }
            let words = "the index \(key[1]) is missing; this makes it again: "
            let message = error?.message ?? ""
            #expect(message.hasPrefix(words), "\(message)")
            _ = try database.run(String(message.dropFirst(words.count)))
            #expect(throws: Never.self) { try server.check() }
        }
    }

    @Test func `a missing permission to create tables is reported`() async throws {
        let fixture = try await PostgresStoreFixture()
        _ = try await fixture.server.run("CREATE ROLE humble LOGIN", on: fixture.url)
        let url = fixture.server.url(fixture.name, user: "humble")
        let store = SQLVaultStore(try connector(of: url, timeout: .eachStatement(.seconds(60))))
        let error = #expect(throws: StoreError.self) { try store.create(.first) }
        #expect(error?.kind == .unusable)
        #expect(
            error?.message.contains("permission denied for schema public") == true,
            "\(String(describing: error))")
        let remedy = try #require(error?.remedy)
        #expect(
            remedy.hasPrefix(
                "the tables, or the database, belong to another role than humble, which vault.url "
                    + "names: 'sudo -u postgres psql --dbname \(fixture.name) --command \"\\dt\"' "
                    + "shows the tables and their owner"), "\(remedy)")
        // What is printed for a database without tables, run as its administrator.
        let command = try #require(remedy.components(separatedBy: "psql -c '").last)
        #expect(remedy.contains("sudo -u postgres psql -c 'ALTER DATABASE "), "\(remedy)")
        _ = try await fixture.server.run(
            try #require(command.split(separator: "'").first.map(String.init)), on: fixture.url)
        try store.create(.first)
    }

    @Test func `a missing privilege is named with the statement that gives it`() async throws {
        let fixture = try await PostgresStoreFixture()
        _ = try fixture.preparedServerStore()
        for statement in [
            "CREATE ROLE clerk LOGIN", "GRANT ALL ON ALL TABLES IN SCHEMA public TO clerk",
            "REVOKE INSERT ON inbox_event FROM clerk",
            "REVOKE SELECT, UPDATE ON vault_history FROM clerk",
        ] { _ = try await fixture.server.run(statement, on: fixture.url) }
        let url = fixture.server.url(fixture.name, user: "clerk")
        let store = try ServerStore(url, timeout: .eachStatement(.seconds(60)))
        #expect(
            try store.vault.faults().map(\.text).contains(
                "the role clerk has no privilege for SELECT on the table vault_history; this gives "
                    + "it: GRANT ALL ON vault_history TO clerk"))
        for (table, privileges) in [("vault_history", "SELECT, UPDATE"), ("inbox_event", "INSERT")]
        {
            for error in [
                #expect(throws: StoreError.self) { try store.check() },
                #expect(throws: StoreError.self) { _ = try store.examine() },
            ] {
                #expect(
                    error?.message
                        == "the role clerk has no privilege for \(privileges) on the table \(table); "
                        + "this gives it: GRANT ALL ON \(table) TO clerk")
                #expect(error?.kind == .unusable && error?.remedy?.contains("GRANT") == true)
            }
            _ = try await fixture.server.run("GRANT ALL ON \(table) TO clerk", on: fixture.url)
        }
        try store.check()
    }

    @Test(arguments: [
        "postgresql:///db?host=/tmp/no-such-folder", "postgres://u:geheim@127.0.0.1:1/db",
        "postgresql://u:geheim@no-such-host.invalid/db", "postgresql://u:geheim?@127.0.0.1:1/db",
    ])
    func `a stopped server is unreachable`(_ url: String) throws {
        let error = try refusal(url)
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains("geheim") == false)
    }

    @Test func `siwa waits for a silent server as long as the URL says`() throws {
        let silence = try SilentPort()
        let error = try refusal("postgresql://u@127.0.0.1:\(silence.port)/db?connect_timeout=1")
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains("within 1 s") == true)
    }

    @Test(arguments: [
        "postgresql://u:geh/eim@127.0.0.1:1/db", "postgresql://u:geh@eim@127.0.0.1:1/db",
        "postgresql://u:geh?e@im@127.0.0.1:1/db", "postgresql://u:%zzgeheim@127.0.0.1:1/db",
        "postgresql://u:geh/eim?a=b@127.0.0.1:1/db", "postgresql://[geheim",
        "postgresql://u:geheim",
        "postgresql://127.0.0.1:1/db?geheim=eim", "postgresql://127.0.0.1:1/db?geheim",
        "mysql://u:geheim@h/d", "sqlite", "geheim", "", "sqlite:", "sqlite:a\0geheim",
        "postgresql://u:geheim@h/d\0",
    ])
    func `an invalid URL is refused and not shown`(_ url: String) throws {
        let error = #expect(throws: StoreError.self) {
            try SQLVaultStore(try connector(of: url, timeout: .eachStatement(.seconds(60))))
                .keyChecks()
        }
        #expect(error?.kind == .unusable)
        #expect(
            ["geh", "eim"].allSatisfy { error?.message.contains($0) == false },
            "\(String(describing: error))")
    }
}

/// What libpq says when there is no connection.
@Suite(.blocking) struct ConnectionRefusalTests {
    @Test func `a home that cannot be entered is the cause, not the password that is in it`() {
        let closed = ConnectionRefusal(
            "connection to server at \"127.0.0.1\" failed: could not open certificate file "
                + "\"/var/lib/siwa/.postgresql/postgresql.crt\": Permission denied\n")
        let remedy = closed.remedy(
            for: PostgresRole(name: "siwa", database: "siwa", isLocal: true), needsPassword: true)
        #expect(remedy?.contains("chown siwa:siwa /var/lib/siwa") == true)
        #expect(remedy?.contains(".pgpass") == false)
    }

    @Test func `a user without a role is told to be the service`() {
        let unknown = ConnectionRefusal("FATAL:  28000: role \"root\" does not exist\n")
        let peer = ConnectionRefusal(
            "FATAL:  28000: Peer authentication failed for user \"siwa\"\n")
        for (refusal, role) in [(unknown, "root"), (peer, "siwa")] {
            let remedy = refusal.remedy(
                for: PostgresRole(name: role, database: "siwa", isLocal: true),
                needsPassword: false)
            #expect(remedy?.contains("'siwa-admin' is siwa as the service") == true)
        }
        #expect(unknown.kind(needsPassword: false) == .unusable)
        let wrong = ConnectionRefusal("FATAL:  28P01: no\n")
        for (refusal, needsPassword) in [
            (wrong, false), (ConnectionRefusal("no password\n"), true),
        ] {
            let remedy = refusal.remedy(
                for: PostgresRole(name: "siwa", database: "siwa", isLocal: true),
                needsPassword: needsPassword)
            #expect(remedy?.contains("/var/lib/siwa/.pgpass") == true)
        }
    }

    @Test func `a missing role or database is created as the database's administrator`() {
        let role = ConnectionRefusal("FATAL:  28000: role \"siwa\" does not exist\n")
        #expect(
            role.remedy(
                for: PostgresRole(name: "siwa", database: "siwa", isLocal: true),
                needsPassword: false)?
                .hasPrefix("create the role: sudo -u postgres createuser siwa;") == true)
        #expect(
            role.remedy(
                for: PostgresRole(name: "siwa", database: "siwa", isLocal: true, port: "5433"),
                needsPassword: false)?
                .hasPrefix("create the role: sudo -u postgres createuser --port 5433 siwa;") == true
        )
        let locked = ConnectionRefusal(
            "FATAL:  28000: role \"it's\" is not permitted to log in\n")
        #expect(
            locked.remedy(
                for: PostgresRole(name: "it's", database: "siwa", isLocal: false, port: "5432"),
                needsPassword: false)
                == "let the role log in, on the machine of the database: sudo -u postgres psql -c "
                + #"'ALTER ROLE "it'\''s" LOGIN'; or name another one in vault.url"#)
        let database = ConnectionRefusal("FATAL:  3D000: database \"it's\" does not exist\n")
        #expect(
            database.remedy(
                for: PostgresRole(name: "siwa", database: "it's", isLocal: false),
                needsPassword: false)
                == "if there was a vault, look for it under another name (sudo -u postgres psql -l), "
                + "or restore it from its backup; for a new one, create the "
                + "database, on the machine of the database: sudo -u postgres createdb "
                + #"--owner siwa --encoding UTF8 --template template0 'it'\''s'"#)
    }

    @Test(arguments: [
        (
            "at \"h\", port 5: FATAL:  28P01: no, \"u\"\nLOCATION:  auth.c:1\n",
            StoreError.Kind.unusable,
            "at \"h\", port 5: FATAL:  no, \"u\""
        ),
        ("FATALE:  57P03: spegnimento\n", .unreachable, "FATALE:  spegnimento"),
        ("FATAL:  53300: too many\n", .unreachable, "FATAL:  too many"),
        ("FATAL:  3D000: none", .unusable, "FATAL:  none"),
        (
            "failed: Connection refused\n\tIs it running?\n", .unreachable,
            "failed: Connection refused"
        ),
        ("SSL error: certificate verify failed", .unusable, "SSL error: certificate verify failed"),
        ("server does not support SSL, but", .unusable, "server does not support SSL, but"),
        ("invalid sslmode value: \"x\"\n", .unusable, "invalid sslmode value: \"x\""),
        (
            "at \"h\" failed: invalid integer value \"x\"", .unusable,
            "at \"h\" failed: invalid integer value \"x\""
        ),
        ("SSL SYSCALL error: EOF detected", .unreachable, "SSL SYSCALL error: EOF detected"),
        (
            "SSL connection has been closed unexpectedly", .unreachable,
            "SSL connection has been closed unexpectedly"
        ),
        ("", .unreachable, ""), (":  28P01:", .unreachable, ":  28P01:"),
    ])
    func `a refusal is recognised by its SQLSTATE`(
        _ text: String, _ kind: StoreError.Kind, _ message: String
    ) {
        let refusal = ConnectionRefusal(text)
        #expect(refusal.kind(needsPassword: false) == kind)
        #expect(refusal.message == message)
    }
}
