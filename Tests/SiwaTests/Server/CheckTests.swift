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

    @Test func `a damaged part that only a start reads is found`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        let server = try await fixture.serve(fixture.listeners)
        #expect(try await server.stop().ending == .exit(0))
        let page = try fixture.vault.run(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'revocation_job_due'")
        let size = try fixture.vault.run("PRAGMA page_size")
        let number = try #require(page.first?.first?.integer)
        let length = try #require(size.first?.first?.integer)
        _ = try fixture.vault.run("PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try FileHandle(
            forUpdating: URL(filePath: fixture.apple.folder.path("vault.db")))
        try file.seek(toOffset: UInt64((number - 1) * length))
        try file.write(contentsOf: Data(repeating: 0xFF, count: length))
        try file.close()
        for command in ["check", "serve"] {
            let result = try await fixture.run(command)
            #expect(result.ending == .exit(3), "\(result)")
            #expect(result.errors.contains("malformed"), "\(result)")
        }
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

    @Test func `a key that a token waiting to be stored needs, and that is missing, is named`()
        async throws
    {
        let fixture = try await prepared(.sqlite)
        let line = { (key: Int) in
            #"{"client_id":"com.example.app","user_id":"001.a.1","token_fingerprint":"0123456789ab","#
                + #""key_number":\#(key),"sealed":"AAAA","stored_at":1800000000}"# + "\n"
        }
        for (key, isNamed) in [(1, false), (2, true)] {
            try fixture.apple.folder.write("unsaved-tokens", line(key) + "not JSON\n\0\0\0")
            let checked = try await fixture.run("check")
            #expect(checked.ending == .exit(0), "\(checked)")
            #expect(
                checked.errors.contains("cannot be stored without key 2 of the vault") == isNamed,
                "\(checked)")
        }
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
            #expect(text.contains("version 4 of the vault in"), "\(text)")
            #expect(text.contains("is of no release of siwa; this siwa supports"), "\(text)")
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

    /// A listener that no start could open.
    struct Unusable: Sendable, CustomTestStringConvertible {
        let listen: String
        var group: String?
        let words: String

        var testDescription: String { listen + (group.map { ", \($0)" } ?? "") }

        static let all = [
            Self(listen: "unix:FOLDER/nowhere/api.sock", words: "nowhere/api.sock: No such file"),
            Self(listen: "unix:FOLDER/file", words: "file: a file with this path exists already"),
            Self(
                listen: "unix:FOLDER/api.sock", group: "no-such-group",
                words: "to the group 'no-such-group': it does not exist"),
            Self(listen: "192.0.2.1:8790", words: "cannot listen on port 8790 of 192.0.2.1"),
        ]
    }

    @Test(arguments: Unusable.all)
    func `a listener that no start could open is named as by serve`(
        _ unusable: Unusable
    ) async throws {
        let fixture = try await prepared(.sqlite)
        let folder = fixture.apple.folder
        try folder.write("file", "")
        let address = unusable.listen.replacingOccurrences(of: "FOLDER", with: folder.path)
        try fixture.configure([
            .init(
                "api",
                .object(
                    [.init("listen", .string(address))]
                        + (unusable.listen.hasPrefix("unix") ? [] : [.init("behind_proxy", true)])
                        + (unusable.group.map { [.init("group", .string($0))] } ?? [])))
        ])
        let (checked, served) = (try await fixture.run("check"), try await fixture.run("serve"))
        #expect(checked.ending == .exit(3) && served.ending == .exit(3), "\(checked) \(served)")
        #expect(checked.errors.contains(unusable.words), "\(checked)")
        #expect(served.errors.contains(unusable.words), "\(served)")
    }

    @Test func `a socket of the service manager is not said to be tried`() async throws {
        let fixture = try await prepared(.sqlite)
        try fixture.configure([.init("notifications", ["listen": "systemd:apple"])])
        let checked = try await fixture.run("check")
        #expect(checked.ending == .exit(0), "\(checked)")
        #expect(
            checked.output.contains(
                "listeners: notifications (not tried: the .socket unit of systemd:apple has to be"),
            "\(checked)")
    }

    @Test(arguments: VaultBackend.available)
    func `a port that another process has is refused, and that of the server is not`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await prepared(backend)
        let other = try await ServerFixture(.sqlite)
        let server = try await other.serve(other.listeners)
        let place = try server.place("metrics")
        try fixture.configure([.init("metrics", ["listen": .string(place)])])
        let checked = try await fixture.run("check")
        let served = try await fixture.run("serve")
        #expect(checked.ending == .exit(3) && served.ending == .exit(3), "\(checked) \(served)")
        #expect(checked.errors.contains("server.metrics.listen: "), "\(checked)")
        #expect(checked.errors.contains(" is in use"), "\(checked)")
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        let beside = try await fixture.serve(fixture.listeners)
        try await eventually("its facts are written") {
            try await fixture.apple.siwa("status", "--json", environment: environment)
                .output.contains(try beside.place("metrics"))
        }
        try fixture.configure([.init("metrics", ["listen": .string(place)])])
        let running = try await fixture.run("check")
        #expect(running.ending == .exit(3) && running.errors.contains(" is in use"), "\(running)")
        #expect(try await beside.stop().ending == .exit(0))
        let file = try JSON(try other.apple.folder.contents("apple/server.json"))
        try other.apple.folder.write(
            "apple/server.json",
            JSON.object(
                (file.members ?? []).filter { $0.name != "server" } + [
                    .init("server", ["metrics": ["listen": .string(place)]])
                ]
            ).text)
        let own = try await other.run("check")
        #expect(own.ending == .exit(0) && !own.errors.contains("in use"), "\(own)")
        let socket = other.apple.folder.path("api.sock")
        try fixture.configure([.init("api", ["listen": .string("unix:\(socket)")])])
        let taken = try await fixture.run("check")
        #expect(taken.ending == .exit(3), "\(taken)")
        #expect(
            taken.errors.contains("server.api.listen: another process listens on \(socket)"),
            "\(taken)")
        // Another address of a port that it gives up when it ends.
        let all = JSON.Member(
            "metrics",
            [
                "listen": .string(place.replacing("127.0.0.1", with: "0.0.0.0")),
                "behind_proxy": true,
            ])
        try fixture.configure([all])
        #expect(try await fixture.run("check").errors.contains("is in use"))
        try other.configure([all, .init("api", ["listen": .string("unix:\(socket)")])])
        let wider = try await other.run("check")
        #expect(wider.ending == .exit(0) && !wider.errors.contains("in use"), "\(wider)")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `what expires soon and only a person can renew is a warning`() async throws {
        let fixture = try await prepared(.sqlite)
        let folder = fixture.apple.folder
        let day = 86_400
        for (seconds, words) in [
            (-80 * day..<10 * day + 3600, "expires in 10 days, at"),
            (-80 * day..<(-day), "expired at"),
            (-80 * day..<20 * day, nil), (-day..<2 * day, nil),
            (day..<80 * day, "is not valid before"),
        ] as [(Range<Int>, String?)] {
            let authority = try ListenerTests.authority("own", valid: seconds)
            let identity = try TLSIdentity(authority, .address("127.0.0.1"))
            let (certificate, key) = (
                try folder.write("tls.pem", identity.certificate),
                try folder.write("tls.key", identity.key)
            )
            try fixture.configure([
                .init(
                    "metrics",
                    [
                        "listen": "127.0.0.1:0",
                        "tls": ["certificate": .string(certificate), "key": .string(key)],
                    ])
            ])
            let checked = try await fixture.run("check")
            #expect(checked.ending == .exit(0), "\(checked)")
            let warning = "he certificate of server.metrics, \(certificate), "
            #expect(
                checked.errors.contains(warning + (words ?? "")) == (words != nil), "\(checked)")
        }
        // The rest of the chain counts, too.
        let old = try ListenerTests.authority("old", valid: -80 * day..<(-day)).certificate
        let own = try TLSIdentity(ListenerTests.authority("own"), .address("127.0.0.1"))
        try folder.write(
            "tls.pem",
            own.certificate + (try old.pemRepresentation()))
        try folder.write("tls.key", own.key)
        #expect(try await fixture.run("check").errors.contains(", expired at "))
    }

    @Test func `a webhook secret that others can read is a warning, and refused if strict`()
        async throws
    {
        let fixture = try await prepared(.sqlite)
        let secret = fixture.apple.folder.path("webhook.secret")
        #expect(try await fixture.run("webhook-secret", "--out", secret).ending == .exit(0))
        try fixture.configure([
            .init("deliver", ["url": "https://127.0.0.1:1/", "secret_file": .string(secret)])
        ])
        let file = try JSON(try fixture.apple.folder.contents("apple/server.json"))
        let strict = try fixture.apple.folder.write(
            "apple/strict.json", JSON.object((file.members ?? []) + [.init("strict", true)]).text)
        #expect(try await fixture.run("check", "--config", strict).ending == .exit(0))
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: secret)
        let (warned, refused) = (
            try await fixture.run("check"), try await fixture.run("check", "--config", strict)
        )
        #expect(warned.ending == .exit(0) && refused.ending == .exit(3), "\(warned) \(refused)")
        for result in [warned, refused] {
            #expect(result.errors.contains("the webhook secret \(secret)"), "\(result)")
        }
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
