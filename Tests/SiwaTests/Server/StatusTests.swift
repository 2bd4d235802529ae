import Foundation
import Glibc
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// `siwa status`, `GET /v1/status` and `/readyz` of a running server.
@Suite(.blocking) struct StatusTests {
    @Test(arguments: VaultBackend.available)
    func `siwa status and the API show the same, with the problem first`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2])
        let signer = try NotificationSigner()
        try fixture.apple.folder.write("apple/keys.json", signer.keySet.text)
        let server = try await fixture.serve(
            fixture.listeners + [.init("jwks_file", "keys.json")])
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        func status() async throws -> ProgramResult {
            try await fixture.apple.siwa("status", "--json", environment: environment)
        }
        try await eventually("the facts are written") {
            try await status().output.contains("Apple's keys come from a file.")
        }
        let shown = try await status()
        #expect(shown.exitCode == 1, "\(shown)")
        let api = try await server.api("GET", "/v1/status")
        #expect(api.status == 200)
        let (mine, theirs) = (try JSON(text: shown.output), try JSON(text: api.body))
        for name in ["ok", "problems", "events", "revocations"] {
            #expect(mine[name] == theirs[name], "\(name)")
        }
        #expect(mine["servers"]?.elements?.count == 1)
        #expect(!api.body.contains(fixture.vault.people.userID(1)))
        #expect(try await server.stop().ending == .exit(0))
        try await eventually("no server runs") {
            try await status().output.contains("No siwa-server is running, or none can write")
        }
    }

    @Test(arguments: VaultBackend.available)
    func `a server that was killed is forgotten when it starts again`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        func servers() async throws -> [JSON]? {
            let shown = try await fixture.apple.siwa("status", "--json", environment: environment)
            return try JSON(text: shown.output)["servers"]?.elements
        }
        let killed = try await fixture.serve(fixture.listeners)
        try await eventually("its addresses are known") {
            try await servers()?.first?["listeners"]?.elements?.isEmpty == false
        }
        killed.program.signal(SIGKILL)
        _ = try await killed.program.result()
        #expect(try await servers()?.count == 1)
        let server = try await fixture.serve(fixture.listeners)
        try await eventually("one server is left") {
            let servers = try await servers()
            return servers?.count == 1 && servers?.first?["listeners"]?.elements?.isEmpty == false
        }
        #expect(try await server.stop().ending == .exit(0))
        #expect(try await servers() == [])
    }

    @Test func `doctor says what Apple refused siwa-server, whose secret it accepts`() async throws
    {
        let fixture = try await ServerFixture()
        let server = try await fixture.serve(fixture.listeners)
        let old = try await fixture.apple.code()
        _ = try await fixture.apple.post("transfer", [:])
        let answer = try await server.api("POST", "/v1/exchange", ["code": .string(old)])
        #expect(answer.status == 502, "\(answer)")
        try await eventually("doctor knows it") {
            let result = try await fixture.apple.siwa(
                ["doctor", "--online"], environment: fixture.environment)
            return result.output.contains("Apple accepts the secret of com.example.app")
                && result.output.contains(
                    "\nApple refused the last request of siwa-server as com.example.app of team ")
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `a fault that a check of the vault found is a problem until a check finds none`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2])
        let server = try await fixture.serve(fixture.listeners)
        let environment = fixture.environment
        func check(_ arguments: String..., exitCode: Int32) async throws {
            let result = try await fixture.apple.siwa(
                ["vault", "check"] + arguments, environment: environment)
            #expect(result.exitCode == exitCode, "\(result)")
        }
        func status() async throws -> JSON {
            try JSON(
                text: try await fixture.apple.siwa(
                    "status", "--json", "--profile", "app", environment: environment
                ).output)
        }
        let before = try #require(try await status()["vault"])
        #expect(before["last_check_at"] == .null && before["faults"] == .null)
        // Neither a copy nor another vault is the one that the server uses.
        try await check("--vault", fixture.vault.url, exitCode: 0)
        #expect(try await status()["vault"]?["last_check_at"] == .null)
        try await check(exitCode: 0)
        try fixture.vault.run(
            "UPDATE server_count SET value = value - 200000 WHERE name = 'vault_checked_at'")
        let late = try await status()["problems"]?.text
        #expect(late?.contains("The vault was not checked for 2 days.") == true)
        // Of the record, and of the list of keys, which lacks the key.
        let fault = "The vault has 2 faults, found at"
        let record = "WHERE user_id = '\(fixture.vault.people.userID(1))'"
        // A call meets the record before a check does.
        try fixture.vault.run("UPDATE vault_token SET stored_at = \(Int.max) \(record)")
        let user = JSON.string(fixture.vault.people.userID(1))
        #expect(try await server.api("POST", "/v1/refresh", ["user_id": user]).status == 500)
        let unreadable = "A record of the vault could not be read at"
        #expect(try await server.api("GET", "/v1/status").body.contains(unreadable))
        try await eventually("siwa status, too", limit: .seconds(60)) {
            try await status()["problems"]?.text.contains(unreadable) == true
        }
        try fixture.vault.run("UPDATE vault_token SET stored_at = 1 \(record)")
        try await check(exitCode: 0)
        #expect(try await status()["problems"]?.text.contains(unreadable) == false)
        try fixture.vault.run("UPDATE vault_token SET key_number = key_number + 7 \(record)")
        try await check(exitCode: 3)
        #expect(try await status()["vault"]?["faults"] == 2)
        #expect(try await status()["problems"]?.text.contains(fault) == true)
        try await eventually("the server shows it", limit: .seconds(60)) {
            try await server.api("GET", "/v1/status").body.contains(fault)
        }
        let page = try await server.call("metrics", "GET", "/")
        #expect(page.body.contains("<a href=\"#vault-check\">Its row</a>"))
        try fixture.vault.run("UPDATE vault_token SET key_number = key_number - 7 \(record)")
        try await check(exitCode: 0)
        #expect(try await status()["vault"]?["faults"] == 0)
        #expect(try await status()["problems"]?.text.contains(fault) == false)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `a database that is malformed is a problem, even if the check could not end`()
        async throws
    {
        let fixture = try await ServerFixture()
        _ = try await fixture.vault.store([1, 2])
        let server = try await fixture.serve(fixture.listeners)
        #expect(try await server.stop().ending == .exit(0))
        let environment = fixture.environment
        let siwa = { (arguments: String...) in
            try await fixture.apple.siwa(arguments, environment: environment)
        }
        #expect(try await siwa("vault", "check").exitCode == 0)
        let connector = try connector(of: fixture.vault.url, timeout: .eachStatement(.seconds(9)))
        let rows = try connector.connect(creating: false).run(
            "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'revocation_user'",
            [])
        let (page, size) = try (
            #require(rows.first?.first?.integer), #require(rows.first?.last?.integer)
        )
        let file = try FileHandle(
            forUpdating: URL(filePath: fixture.vault.url.replacing("sqlite:", with: "")))
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: Data(repeating: 0xA5, count: size))
        try file.close()
        let check = try await siwa("vault", "check")
        #expect(check.exitCode == 3 && check.errors.contains("malformed"), "\(check)")
        #expect(!check.errors.contains("'siwa vault check' examines all of it"))
        let status = try await siwa("status", "--profile", "app")
        #expect(status.output.contains("The vault has "), "\(status)")
    }

    @Test(arguments: VaultBackend.available)
    func `requests that waited too long for the database are a problem for a minute`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2])
        let server = try await fixture.serve(fixture.listeners)
        let fault = "Calls of the database waited too long"
        #expect(try await !server.api("GET", "/v1/status").body.contains(fault))
        let lock = try connector(of: fixture.vault.url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false)
        for statement in backend == .sqlite
            ? ["BEGIN IMMEDIATE"] : ["BEGIN", "LOCK TABLE revocation IN EXCLUSIVE MODE"]
        { _ = try lock.run(statement, []) }
        let user = JSON.string(fixture.vault.people.userID(1))
        let answer = try await server.api("POST", "/v1/revoke", ["user_id": user, "wait": 0])
        #expect(answer.status == 503, "\(answer)")
        // A write lock of SQLite keeps the heartbeat waiting, too, which is said first.
        #expect(try await server.api("GET", "/v1/status").body.contains(fault))
        _ = try lock.run("ROLLBACK", [])
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `tokens that an interrupted run left revoking are a problem after an hour`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2])
        func leave(minutesAgo minutes: Int, lease: Int? = nil) throws {
            try fixture.vault.run(
                """
                UPDATE vault_token SET state = 'revoking',
                    changed_at = \(Int(Date.now.timeIntervalSince1970) - 60 * minutes),
                    lease_until = \(lease ?? Int(Date.now.timeIntervalSince1970) - 60 * minutes)
                WHERE user_id = '\(fixture.vault.people.userID(1))'
                """)
        }
        // As an import does.
        try leave(minutesAgo: 30, lease: 0)
        let server = try await fixture.serve(fixture.listeners)
        let fault = "in the middle of their revocation"
        try await eventually("the tokens are counted") {
            try await server.call("metrics", "GET", "/").body.contains("left revoking")
        }
        #expect(try await !server.api("GET", "/v1/status").body.contains(fault))
        try leave(minutesAgo: 90)
        try await eventually("it is a problem", limit: .seconds(40)) {
            try await server.api("GET", "/v1/status").body.contains(fault)
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `replaced or removed keys of a running server, and failed reloads, are problems`()
        async throws
    {
        let fixture = try await ServerFixture(.sqlite)
        let folder = fixture.apple.folder
        let server = try await fixture.serve(fixture.listeners)
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        func expect(
            _ words: String, isShown: Bool = true, inCommand: Bool = true
        ) async throws {
            try await eventually("\(isShown ? "" : "no longer ")\(words)", limit: .seconds(40)) {
                try await server.api("GET", "/v1/status").body.contains(words) == isShown
            }
            guard inCommand else { return }
            try await eventually("siwa status, too", limit: .seconds(40)) {
                let status = try await fixture.apple.siwa("status", environment: environment)
                return status.output.contains(words) == isShown
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("apple"))
        let path = "apple/\(try #require(names.first { $0.hasSuffix(".p8") }))"
        for (file, gone, other) in [
            (
                "vault.key", "with the keys that are in their file now: the vault's keys cannot be",
                "with the keys that are in their file now: key 1 is not the key 1 of this vault"
            ),
            (
                path, "the private key cannot be used any more",
                "has another key than the one in use"
            ),
        ] {
            let before = try folder.contents(file)
            try FileManager.default.removeItem(atPath: folder.path(file))
            try await expect(gone)
            let replacement =
                file == path
                ? try P256PrivateKey.generate().pemRepresentation().revealed()
                : try VaultKeyRing.newLine(number: 1).revealed()
            try folder.write(file, replacement)
            try await expect(other)
            let text = try await server.call("metrics", "GET", "/readyz")
            #expect(text.status == 200 && !text.body.contains("key_files: ok"), "\(text.body)")
            try folder.write(file, before)
            try await expect(other, isShown: false)
        }
        let configuration = try folder.contents("apple/server.json")
        try folder.write("apple/server.json", "{")
        server.program.signal(SIGHUP)
        // The command cannot read the configuration, either.
        try await expect("The last reload failed: the configuration", inCommand: false)
        try folder.write("apple/server.json", configuration)
        server.program.signal(SIGHUP)
        try await expect("The last reload failed", isShown: false)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `files that a start needs are examined while the server runs`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        let folder = fixture.apple.folder
        let authority = try ListenerTests.authority("first")
        let identity = try TLSIdentity(authority, .address("127.0.0.1"))
        try folder.write("tls.pem", identity.certificate)
        try folder.write("tls.key", identity.key)
        let (secret, authorities) = (folder.path("webhook.secret"), folder.path("authorities.pem"))
        let made = try await fixture.run("webhook-secret", "--out", secret)
        try #require(made.ending == .exit(0), "\(made)")
        #expect(try await fixture.run("webhook-secret", "--out", "-").ending == .exit(2))
        try folder.write("authorities.pem", identity.certificate)
        let server = try await fixture.serve(
            fixture.listeners.map { listener in
                listener.name != "notifications"
                    ? listener
                    : .init(
                        "notifications",
                        [
                            "listen": "127.0.0.1:0",
                            "tls": [
                                "certificate": .string(folder.path("tls.pem")),
                                "key": .string(folder.path("tls.key")),
                            ],
                        ])
            } + [
                .init(
                    "deliver",
                    [
                        "url": "https://127.0.0.1:1/", "secret_file": .string(secret),
                        "ca_file": .string(authorities),
                    ])
            ])
        for (file, gone, garbage) in [
            ("webhook.secret", "server.deliver.secret_file cannot be read", "secret_file: /"),
            ("authorities.pem", "server.deliver.ca_file cannot be read", "no PEM certificate"),
            ("tls.pem", "server.notifications.tls: ", "are not a certificate and its"),
        ] {
            try await faults(of: file, in: folder, gone, garbage, areShownBy: server)
        }
        // Another secret is no fault of a start, and deliveries are signed with the old one.
        try FileManager.default.removeItem(atPath: secret)
        #expect(try await fixture.run("webhook-secret", "--out", secret).ending == .exit(0))
        let changed = "\(secret) was changed since the server read it."
        for isShown in [true, false] {
            try await eventually("a changed secret: \(isShown)", limit: .seconds(40)) {
                try await server.api("GET", "/v1/status").body.contains(changed) == isShown
            }
            server.program.signal(SIGHUP)
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `files that profiles and the receiver need are examined, too`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        let folder = fixture.apple.folder
        let config = try JSON(try folder.contents("apple/config.json"))
        func profile(_ name: String, _ members: [JSON.Member], without: [String]) throws -> JSON {
            let old = try #require(config["profiles"]?[name]?.members)
            return .object(old.filter { !without.contains($0.name) } + members)
        }
        let settings: JSON = [
            "profiles": [
                "app": try profile(
                    "app", [.init("client_secret_file", "given.secret")],
                    without: ["private_key", "key_id"]),
                "web": try profile("web", [.init("ca_file", "own.pem")], without: ["ca_file"]),
            ],
            "server": .object(fixture.listeners + [.init("jwks_file", "keys.json")]),
        ]
        try folder.write("apple/server.json", settings.text)
        try folder.write("apple/keys.json", try NotificationSigner().keySet.text)
        let identity = try TLSIdentity(ListenerTests.authority("first"), .address("127.0.0.1"))
        try folder.write("apple/own.pem", identity.certificate)
        let secret = try await fixture.apple.siwa("secret", "--lifetime", "30d")
        try folder.write("apple/given.secret", secret.output)
        let server = try await fixture.serve()
        for (file, gone, garbage) in [
            (
                "given.secret", "profile 'app': the client_secret cannot be read",
                "profile 'app': the client_secret cannot be used: it is not a JWT"
            ),
            (
                "own.pem", "profile 'web': ca_file cannot be used",
                "contains no PEM certificate"
            ),
            ("keys.json", "server.jwks_file: cannot read", "is not a JWK Set"),
        ] {
            try await faults(of: "apple/\(file)", in: folder, gone, garbage, areShownBy: server)
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    /// Checks that a file that is missing, and one that is garbage, is a fault of the next start,
    /// until the file is restored.
    private func faults(
        of file: String, in folder: TemporaryFolder, _ gone: String, _ garbage: String,
        areShownBy server: ServerProcess
    ) async throws {
        func expect(_ words: String, isShown: Bool = true) async throws {
            try await eventually("\(isShown ? "" : "no longer ")\(words)", limit: .seconds(40)) {
                let text = try await server.call("metrics", "GET", "/readyz")
                #expect(text.status == 200)
                let status = try await server.api("GET", "/v1/status").body
                return text.body.contains(words) == isShown && status.contains(words) == isShown
            }
        }
        let before = try folder.contents(file)
        try FileManager.default.removeItem(atPath: folder.path(file))
        try await expect(gone)
        try folder.write(file, "garbage")
        try await expect(garbage)
        try folder.write(file, before)
        try await expect(garbage, isShown: false)
        let text = try await server.call("metrics", "GET", "/readyz").body
        #expect(text.contains("start_files: ok"), "\(text)")
    }

    @Test func `a socket that was removed, and what expires soon, are problems`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        let folder = fixture.apple.folder
        func install(_ days: Int) throws {
            let authority = try ListenerTests.authority(
                "own", valid: -80 * 86_400..<days * 86_400)
            let identity = try TLSIdentity(authority, .address("127.0.0.1"))
            try folder.write("tls.pem", identity.certificate)
            try folder.write("tls.key", identity.key)
        }
        try install(5)
        let config = try JSON(try folder.contents("apple/config.json"))
        let app = try #require(config["profiles"]?["app"]?.members)
        let settings: JSON = [
            "profiles": [
                "app": .object(
                    app.filter { !["private_key", "key_id"].contains($0.name) }
                        + [.init("client_secret_file", "given.secret")])
            ],
            "server": .object(
                fixture.listeners.filter { $0.name != "notifications" } + [
                    .init(
                        "notifications",
                        [
                            "listen": "127.0.0.1:0",
                            "tls": [
                                "certificate": .string(folder.path("tls.pem")),
                                "key": .string(folder.path("tls.key")),
                            ],
                        ])
                ]),
        ]
        try folder.write("apple/server.json", settings.text)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("apple"))
        let file = try #require(names.first { $0.hasPrefix("AuthKey_") })
        let pem = String(decoding: try folder.contents("apple/\(file)"), as: UTF8.self)
        let der = Data(
            base64Encoded: pem.split(separator: "\n").dropFirst().dropLast().joined())
        let key = try P256PrivateKey(derRepresentation: SecretBytes(try #require(der)))
        func renew(_ daysAgo: Int) async throws {
            var client = Client(
                teamID: TeamID(
                    unchecked: try #require(config["profiles"]?["app"]?["team_id"]?.string)),
                clientID: ClientID(unchecked: "com.example.app"),
                signingKey: SigningKey(
                    key, id: KeyID(unchecked: String(file.dropFirst(8).dropLast(3)))))
            client.secretLifetime = .seconds(30 * 86_400)
            let issuedAt = NumericDate(Int(Date.now.timeIntervalSince1970) - daysAgo * 86_400)
            let secret = try await client.mintSecret(at: issuedAt)
            try folder.write("apple/given.secret", secret.text.bytes.revealed())
        }
        try await renew(29)
        let server = try await fixture.serve()
        func expect(_ words: String, isShown: Bool = true) async throws {
            try await eventually("\(isShown ? "" : "no longer ")\(words)", limit: .seconds(40)) {
                try await server.call("metrics", "GET", "/").body.contains(words) == isShown
            }
        }
        let certificate =
            "The certificate of server.notifications, \(folder.path("tls.pem")), expires in"
        try await expect(certificate)
        try await expect("The client_secret of profile app expires in")
        try install(60)
        try await renew(1)
        let changed = "\(folder.path("tls.pem")) was changed since the server read it."
        try await expect(changed)
        server.program.signal(SIGHUP)
        try await expect(changed, isShown: false)
        try await expect(certificate, isShown: false)
        try await expect("The client_secret of profile app expires in", isShown: false)
        let closed =
            "the socket of server.api, \(folder.path("api.sock")), has other permissions, or its folder"
        chmod(folder.path("api.sock"), 0o600)
        try await expect(closed)
        chmod(folder.path("api.sock"), 0o666)
        try await expect(closed, isShown: false)
        try FileManager.default.removeItem(atPath: folder.path("api.sock"))
        let removed =
            "the socket of server.api, \(folder.path("api.sock")), was removed or replaced"
        try await expect(removed)
        let text = try await server.call("metrics", "GET", "/readyz")
        #expect(text.status == 200 && text.body.contains("listeners: \(removed)\n"), "\(text.body)")
        // A certificate with which nobody can connect is no listener.
        try install(-1)
        server.program.signal(SIGHUP)
        let expired =
            "listeners: \(removed); The certificate of server.notifications, "
            + "\(folder.path("tls.pem")), expired at "
        try await eventually("the certificate has expired") {
            try await server.call("metrics", "GET", "/readyz").body.contains(expired)
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `no request reads the private keys`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        let folder = fixture.apple.folder
        let server = try await fixture.serve(fixture.listeners)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("apple"))
        let key = folder.path("apple/\(try #require(names.first { $0.hasSuffix(".p8") }))")
        let watch = inotify_init1(Int32(IN_NONBLOCK))
        defer { close(watch) }
        try #require(inotify_add_watch(watch, key, UInt32(IN_OPEN)) >= 0)
        var events = [UInt8](repeating: 0, count: 1 << 16)
        let rounds = 100
        var reads = 0
        for _ in 0..<rounds {
            #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
            #expect(try await server.call("metrics", "GET", "/").status == 200)
            #expect(try await server.api("GET", "/v1/status").status == 200)
            if read(watch, &events, events.count) > 0 { reads += 1 }
        }
        // The heartbeat reads them every ten seconds.
        #expect(reads < rounds / 2)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `of a unit's copy of the key, readyz says what compares it`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        let server = try await fixture.serve(
            fixture.listeners,
            environment: ["CREDENTIALS_DIRECTORY": fixture.apple.folder.path("apple")])
        let text = try await server.call("metrics", "GET", "/readyz")
        #expect(
            text.status == 200
                && text.body.contains(
                    "key_files: ok: the unit's copy, as at its start; 'siwa-admin status' compares "
                        + "/etc/siwa\n"),
            "\(text.body)")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `the status page counts the tokens again`(_ backend: VaultBackend) async throws {
        let fixture = try await ServerFixture(backend)
        _ = try await fixture.vault.store([1, 2])
        let server = try await fixture.serve(fixture.listeners)
        func expect(_ count: Int) async throws {
            try await eventually("the page counts \(count)", limit: .seconds(40)) {
                try await server.call("metrics", "GET", "/").body
                    .contains("com.example.app active</th><td>\(count)</td>")
            }
        }
        try await expect(2)
        _ = try await fixture.vault.store([3])
        // As a minute later.
        try fixture.vault.run(
            "UPDATE server_count SET value = value - 60 WHERE name = 'tokens_counted_at'")
        try await expect(3)
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `tokens are counted although nobody asks`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        _ = try await fixture.vault.store([1, 2])
        let server = try await fixture.serve(fixture.listeners)
        try await eventually("the tokens are counted") {
            let database = try connector(
                of: fixture.vault.url, timeout: .eachStatement(.seconds(60))
            ).connect(creating: false)
            return try !database.run("SELECT 1 FROM server_token_count").isEmpty
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `of what was not tried, status says that it is not known`() async throws {
        let fixture = try await ServerFixture(.sqlite)
        _ = try await fixture.vault.store([1])
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        func status() async throws -> String {
            try await fixture.apple.siwa("status", environment: environment).output
        }
        try fixture.configure(fixture.listeners)
        #expect(try await status().contains("siwa-server, which has not run with this vault yet"))
        let server = try await fixture.serve()
        let unknown = "whether Apple accepts the client com.example.app"
        try await eventually("nothing was sent yet") {
            let text = try await status()
            return text.contains("Not yet known: ") && text.contains(unknown)
        }
        let body: JSON = ["user_id": .string(fixture.vault.people.userID(1))]
        #expect(try await server.api("POST", "/v1/refresh", body).status == 200)
        try await eventually("Apple has accepted it", limit: .seconds(40)) {
            try await !status().contains(unknown)
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
    func `while the database is down, siwa status says that it is temporary, and the page why`()
        async throws
    {
        let postgres = try await PostgresServer()
        let fixture = try await ServerFixture(.postgres, on: postgres)
        let server = try await fixture.serve(fixture.listeners)
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        try await postgres.stop()
        let down = try await fixture.apple.siwa("status", environment: environment)
        #expect(down.exitCode == 75, "\(down)")
        try await eventually("the page says so") {
            try await server.call("metrics", "GET", "/").body
                .contains("The database cannot be used")
        }
        try await postgres.start()
        try await eventually("it is well again", limit: .seconds(60)) {
            let result = try await fixture.apple.siwa("status", environment: environment)
            return result.exitCode != 75 && !result.output.contains("cannot be used")
        }
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test(arguments: VaultBackend.available)
    func `of several servers, the one with the worst problem comes first, with its host`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await ServerFixture(backend)
        let server = try await fixture.serve(fixture.listeners)
        var environment = fixture.environment
        environment["SIWA_PROFILE"] = "app"
        let now = Int(Date().timeIntervalSince1970) * 1000
        let facts: JSON = [
            "profiles": [
                [
                    "profile": "web", "client_id": "com.example.web", "team_id": "A1B2C3D4E5",
                    "refused": true,
                ]
            ], "key_set_age_seconds": 60,
        ]
        try fixture.vault.run(
            """
            INSERT INTO server_instance
                (id, host, version, started_at, heartbeat_at, lease_until, facts)
            VALUES ('other', 'far.example', '1.0.0', $1, $1, $2, $3)
            """, .integer(now), .integer(now + 50_000), .text(facts.text))
        let text = try await fixture.apple.siwa("status", environment: environment)
        #expect(text.exitCode == 1, "\(text)")
        #expect(
            text.output.hasPrefix(
                "Problem: far.example: Apple refuses the client com.example.web of profile web."),
            "\(text)")
        let status = try await fixture.apple.siwa("status", "--json", environment: environment).json
        #expect(status["problems"]?.elements?.first?["host"] == "far.example")
        #expect(status["servers"]?.elements?.count == 2)
        #expect(status["servers"]?.elements?.first?["host"] == "far.example")
        #expect(try await server.stop().ending == .exit(0))
    }

    @Test func `a refused profile is the first problem, and the server stays ready`() async throws {
        let fixture = try await ServerFixture()
        _ = try await fixture.vault.store([1])
        let server = try await fixture.serve(fixture.listeners)
        let refused = #"siwa_profile_refused{profile="app"}"#
        #expect(try await server.metric(refused) == 0)
        try await fixture.apple.post(
            "faults", ["endpoint": "/auth/token", "error": "invalid_client", "count": 100])
        let body: JSON = ["user_id": .string(fixture.vault.people.userID(1))]
        #expect(try await server.api("POST", "/v1/refresh", body).status == 502)
        #expect(try await server.metric(refused) == 1)
        #expect(try await server.call("metrics", "GET", "/readyz").status == 200)
        let page = try await server.call("metrics", "GET", "/").body
        #expect(
            page.contains(
                "<ul><li><strong>Apple refuses the client com.example.app of profile app.</strong>"),
            "\(page)")
        #expect(page.contains("token: invalid_client (app)"))
        try await fixture.apple.post("faults/clear")
        // Apple looks a code up before it examines the client, and revokes any text.
        let unknown: JSON = ["code": "c0123456789abcdef0123456789abcdef.0.mtuv.none"]
        #expect(try await server.api("POST", "/v1/exchange", unknown).status == 422)
        #expect(try await server.metric(refused) == 1)
        #expect(try await server.api("POST", "/v1/refresh", body).status == 200)
        #expect(try await server.metric(refused) == 0)
        #expect(try await server.stop().ending == .exit(0))
    }
}
