import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// `siwa-server check` says what `serve` would, and changes nothing.
@Suite(.blocking) struct CheckTests {
    /// A change of the database, and the exit code for it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let sql: String
        let exitCode: CInt

        var testDescription: String { sql }

        static let all = [
            Self(sql: "UPDATE vault_schema SET version = 99", exitCode: 3),
            Self(sql: "UPDATE server_schema SET version = 99", exitCode: 3),
            Self(sql: "DELETE FROM vault_schema", exitCode: 3),
            Self(sql: "DELETE FROM server_schema", exitCode: 3),
            Self(sql: "DROP TABLE server_schema", exitCode: 3),
            Self(sql: "DROP TABLE vault_schema", exitCode: 3),
            Self(sql: "DELETE FROM vault_key", exitCode: 3),
            Self(sql: "UPDATE vault_schema SET state = 'copying', place = 'x'", exitCode: 3),
            Self(sql: "UPDATE vault_schema SET state = 'moved', place = 'x'", exitCode: 3),
            Self(sql: "UPDATE vault_schema SET state = 'moving', place = 'x'", exitCode: 75),
            Self(sql: "UPDATE vault_schema SET state = 'odd'", exitCode: 3),
            Self(sql: "DELETE FROM server_count WHERE name = 'position'", exitCode: 3),
            Self(sql: "UPDATE server_count SET value = -1 WHERE name = 'position'", exitCode: 3),
            Self(sql: "DELETE FROM server_count WHERE name = 'deletion_level'", exitCode: 3),
        ]
    }

    private func prepared(_ backend: VaultBackend) async throws -> ServerFixture {
        let fixture = try await ServerFixture(backend)
        try fixture.configure(fixture.listeners)
        try ServerStore(fixture.vault.url, timeout: .eachStatement(.seconds(60)))
            .prepare(isAlone: true)
        return fixture
    }

    @Test(arguments: VaultBackend.available, Fault.all)
    func `check and serve have the same exit code`(_ backend: VaultBackend, _ fault: Fault)
        async throws
    {
        let fixture = try await prepared(backend)
        try fixture.vault.run(fault.sql)
        let (checked, served) = (try await fixture.run("check"), try await fixture.run("serve"))
        #expect(checked.ending == .exit(fault.exitCode), "\(checked)")
        #expect(served.ending == .exit(fault.exitCode), "\(served)")
        #expect(
            checked.errors.split(separator: "\n").first
                == served.errors
                .split(separator: "\n").first)
    }

    @Test(arguments: ["missing", "file", "taken"])
    func `a state folder that serve could not use is named`(
        _ name: String
    ) async throws {
        let fixture = try await ServerFixture(.sqlite)
        let folder = fixture.apple.folder
        try folder.write("file", "")
        try FileManager.default.createDirectory(
            atPath: folder.path("taken/unsaved-tokens"), withIntermediateDirectories: true)
        try fixture.configure(
            fixture.listeners + [.init("state", .string(folder.path(name)))])
        let (checked, served) = (try await fixture.run("check"), try await fixture.run("serve"))
        #expect(checked.ending == .exit(3) && served.ending == .exit(3), "\(checked) \(served)")
        #expect(checked.errors == served.errors && checked.errors.contains("server.state"))
    }

    @Test func `another key in the credential of the units than in the profile is named`()
        async throws
    {
        let fixture = try await prepared(.sqlite)
        let agreed = try await fixture.run("check")
        #expect(agreed.ending == .exit(0) && !agreed.errors.contains("key"), "\(agreed)")
        let key = try P256PrivateKey.generate().pemRepresentation().revealed()
        let path = try fixture.apple.folder.write("apple/apple.p8", key)
        let checked = try await fixture.run("check")
        #expect(checked.ending == .exit(0), "\(checked)")
        let warning = checked.errors.split(separator: "\n").first { $0.contains("profile 'app'") }
        #expect(warning?.contains("two different keys: /") == true, "\(checked)")
        #expect(warning?.contains("\(path) (the credential of the units)") == true, "\(checked)")
    }

    @Test func `a link that still leads to the old key is named`() async throws {
        let fixture = try await prepared(.sqlite)
        let folder = fixture.apple.folder
        let key = try P256PrivateKey.generate().pemRepresentation().revealed()
        try folder.write("apple/AuthKey_OLDKEY0000.p8", key)
        let link = folder.path("apple/apple.p8")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "AuthKey_OLDKEY0000.p8")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("apple"))
        let used = try #require(
            names.first { $0.hasPrefix("AuthKey_") && !$0.contains("OLDKEY0000") })
        // As a person has it, and as the service, whose key is behind the link.
        for (environment, inUse, other) in [
            ([:], "\(used) (", "\(link) (the credential of the units, key of OLDKEY0000)"),
            (["SIWA_PRIVATE_KEY_FILE": link], "\(link) (", "\(used) ("),
        ] as [([String: String], String, String)] {
            let checked = try await fixture.run("check", environment: environment)
            #expect(checked.ending == .exit(0), "\(checked)")
            let warning = checked.errors.split(separator: "\n").first {
                $0.hasPrefix("siwa-server: warning: profile 'app'")
            }
            #expect(warning?.contains("two different keys: ") == true, "\(checked)")
            #expect(warning?.contains(inUse) == true, "\(checked)")
            #expect(warning?.contains(other) == true, "\(checked)")
        }
    }

    @Test(arguments: VaultBackend.available)
    func `a database without the server's tables is named, and not changed`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        try fixture.configure(fixture.listeners)
        let folder = fixture.apple.folder.path
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder)
        let checked = try await fixture.run("check")
        #expect(checked.ending == .exit(0), "\(checked)")
        #expect(checked.output.contains("vault: the tables of siwa-server will be created"))
        let exists =
            backend == .sqlite
            ? "SELECT name FROM sqlite_schema WHERE name = 'server_schema'"
            : "SELECT 1 WHERE to_regclass('server_schema') IS NOT NULL"
        let database = try connector(of: fixture.vault.url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false)
        #expect(try database.run(exists).isEmpty)
        let after = try FileManager.default.subpathsOfDirectory(atPath: folder)
        #expect(Set(after).subtracting(before).filter { !$0.hasPrefix("vault.db") }.isEmpty)
    }

    @Test(arguments: VaultBackend.available)
    func `a vault from before the first release is refused, with the way to keep its tokens`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await prepared(backend)
        try fixture.vault.run("UPDATE vault_schema SET version = 4")
        for command in ["check", "serve"] {
            let refused = try await fixture.run(command)
            #expect(refused.ending == .exit(3), "\(refused)")
            let text = refused.output + refused.errors
            #expect(text.contains("tables of version 4, which no release of siwa made"), "\(text)")
            #expect(text.contains("siwa vault export --reveal --output FILE"), "\(text)")
        }
    }

    @Test(arguments: VaultBackend.available)
    func `check succeeds beside a running server, which does not notice it`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await prepared(backend)
        let server = try await fixture.serve()
        for _ in 0..<3 {
            #expect(try await fixture.run("check").ending == .exit(0))
            #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
    func `an unavailable database is a temporary error`() async throws {
        let postgres = try await PostgresServer()
        let fixture = try await ServerFixture(.postgres, on: postgres)
        try fixture.configure(fixture.listeners)
        try await postgres.stop()
        #expect(try await fixture.run("check").ending == .exit(75))
        #expect(try await fixture.run("serve").ending == .exit(75))
    }
}
