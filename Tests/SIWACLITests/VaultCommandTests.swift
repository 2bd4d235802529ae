import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWASystem
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// Cases that scenarios cannot set up: broken records, failing stores, many records.
@Suite struct VaultCommandTests {
    private let harness: CommandHarness
    private let app = ClientID(unchecked: "com.example.app")

    init() async throws {
        harness = try await CommandHarness()
        harness.memory.with { $0.variables["SIWA_VAULT_URL"] = "sqlite:/siwa/vault.db" }
        #expect(await harness.run(["vault", "init", "-q"]).exitCode == 0)
    }

    private func user(_ name: String) -> VaultUser { VaultUser(app, UserID(unchecked: name)) }

    private func take(_ names: [String]) async {
        let lines = names.map { #"{"user_id":"\#($0)","refresh_token":"r-hush-\#($0)"}"# + "\n" }
        harness.memory.with { $0.input = Array(lines.joined().utf8) }
        let outcome = await harness.run(["vault", "import", "--print", "imported"])
        #expect(outcome.output == "\(names.count)\n", "\(outcome)")
    }

    private func spoil(_ name: String) { harness.vault.tamper(user(name)) { $0.sealed[14] ^= 1 } }

    @Test func `a key file that another process creates while the vault is opened is used`()
        async throws
    {
        await take(["a"])
        let old = try #require(harness.memory.with { $0.files["/siwa/vault.key"]?.contents })
        let new = try old + VaultKeyRing.newLine(number: 2).revealed()
        try harness.vault.register(VaultKeyRing(SecretBytes(new)).check(ofKey: 2))
        harness.memory.with { $0.afterReading["/siwa/vault.key"] = new }
        let outcome = await harness.run(["vault", "check", "--print", "records"])
        #expect(outcome.exitCode == 0 && outcome.output == "1\n", "\(outcome)")
    }

    @Test func `check names the records that cannot be decrypted, and prints no content`()
        async throws
    {
        await take(["a", "b", "c"])
        spoil("a")
        let sealed = try #require(try harness.vault.newestRecord(of: user("b"))).sealed
        harness.vault.tamper(user("c")) { $0.sealed = sealed }
        let outcome = await harness.run(["vault", "check"])
        #expect(outcome.exitCode == 3)
        #expect(outcome.output == "")
        #expect(
            Array(outcome.errors.dropFirst()) == [
                "siwa: vault: 2 faults are in the vault; 3 records were examined",
                "hint: token 243ea1597a93 of 'a' of com.example.app cannot be decrypted: "
                    + "it was changed, or belongs elsewhere",
                "hint: token 25448f1a1637 of 'c' of com.example.app cannot be decrypted: "
                    + "it was changed, or belongs elsewhere",
                "hint: bring the record back as the runbook backup-and-restore says ('One damaged "
                    + "record'), or remove what the vault has of the user: siwa vault remove USER",
                "hint: see 'siwa help errors vault'",
            ])
    }

    @Test func `check names twenty damaged records and counts the others`() async {
        let names = (100..<125).map { "u\($0)" }
        await take(names)
        for name in names { spoil(name) }
        let outcome = await harness.run(["vault", "check"])
        #expect(outcome.errors.count { $0.contains("cannot be decrypted") } == 20)
        #expect(outcome.errors.contains("hint: and 5 more"))
        #expect(outcome.errors[1].contains("25 faults"))
    }

    @Test func `an export skips records that cannot be decrypted, and reports them`() async {
        await take(["a", "b"])
        spoil("a")
        let outcome = await harness.run(["vault", "export", "--reveal"])
        #expect(outcome.exitCode == 3)
        #expect(outcome.output.contains("r-hush-b") && !outcome.output.contains("\"a\""))
        #expect(outcome.errors.contains { $0.contains(" of 'a' of com.example.app") })
        #expect(await harness.run(["vault", "export"]).exitCode == 0, "no token is asked for")
    }

    @Test func `a record that cannot be decrypted is not shown, and can be removed`() async throws {
        await take(["a"])
        spoil("a")
        #expect(await harness.run(["vault", "show", "a"]).exitCode == 3)
        let outcome = await harness.run(["vault", "remove", "a"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.output.contains("243ea1597a93"), "it can be read without the key")
        #expect(try harness.vault.newestRecord(of: user("a")) == nil)
    }

    @Test
    func `rekey encrypts every record that can be decrypted, and a second run continues`()
        async throws
    {
        await take(["a", "b", "c"])
        let whole = try #require(try harness.vault.newestRecord(of: user("b"))).sealed
        spoil("b")
        let outcome = await harness.run(["vault", "rekey"])
        #expect(outcome.exitCode == 3)
        #expect(outcome.errors.contains { $0.contains(" of 'b' of com.example.app") })
        #expect(
            !outcome.errors.contains { $0.contains("no record is still encrypted") },
            "key 1 is needed still")
        #expect(
            try ["a", "b", "c"].map { try harness.vault.newestRecord(of: user($0))?.keyNumber } == [
                2, 1, 2,
            ])

        harness.vault.tamper(user("b")) { $0.sealed = whole }
        let keys = harness.memory.with { $0.files["/siwa/vault.key"]?.contents }
        let rest = await harness.run(["vault", "rekey", "--print", "resealed"])
        #expect(rest.output == "1\n")
        #expect(
            harness.memory.with { $0.files["/siwa/vault.key"]?.contents } == keys, "no third key")
        #expect(await harness.run(["vault", "check", "--print", "keys"]).output == "{\"2\":3}\n")
    }

    /// What siwa-server seals outside the records, with the vault's first key.
    private func keepSecrets() throws -> [VaultSecret] {
        let keys = try #require(harness.memory.with { $0.files["/siwa/vault.key"]?.contents })
        let vault = try Vault(
            harness.vault, VaultKeyRing(SecretBytes(keys)), by: VaultActor(command: "", host: ""))
        let rows: [VaultSecret.Row] = [.job(1), .job(2), .code([1, 2, 3, 4, 5, 6, 7])]
        let secrets = try rows.map { row in
            VaultSecret(
                row: row, place: ["\(row)"],
                sealed: try vault.seal(SecretBytes("r-hush".utf8), for: ["\(row)"]))
        }
        harness.vault.keep(secrets)
        return secrets
    }

    @Test func `rekey and check include what siwa-server has encrypted`() async throws {
        await take(["a"])
        _ = try keepSecrets()
        #expect(await harness.run(["vault", "check", "--print", "keys"]).output == "{\"1\":4}\n")
        #expect(
            await harness.run(["vault", "check", "--print", "sealed_elsewhere"]).output == "3\n")
        let outcome = await harness.run(["vault", "rekey", "--print", "resealed"])
        #expect(outcome.exitCode == 0 && outcome.output == "4\n", "\(outcome)")
        #expect(outcome.errors.contains { $0.contains("no record is still encrypted with key 1") })
        #expect(await harness.run(["vault", "check", "--print", "keys"]).output == "{\"2\":4}\n")
    }

    @Test func `data of siwa-server that cannot be decrypted is named, and needs the old key`()
        async throws
    {
        await take(["a"])
        let good = try keepSecrets()
        var bytes = good[1].sealed.bytes
        bytes[14] ^= 1
        let spoilt = VaultSecret(
            row: good[1].row, place: good[1].place, sealed: SealedSecret(keyNumber: 1, bytes: bytes)
        )
        harness.vault.keep([good[0], spoilt, good[2]])
        for command in ["check", "rekey"] {
            let outcome = await harness.run(["vault", command])
            #expect(outcome.exitCode == 3, "\(outcome)")
            #expect(
                outcome.errors.contains {
                    $0.contains("job 2 of siwa-server's outbox cannot be opened")
                },
                "\(outcome)")
            #expect(!outcome.errors.contains { $0.contains("no record is still encrypted") })
        }
        // An earlier run that was stopped is continued, even if only such a secret is left.
        harness.vault.keep([good[0]])
        let rest = await harness.run(["vault", "rekey", "--print", "resealed"])
        #expect(rest.output == "1\n", "\(rest)")
        #expect(await harness.run(["vault", "check", "--print", "keys"]).output == "{\"2\":2}\n")
    }

    @Test func `a removed token keeps the last state of its history when it is imported again`()
        async throws
    {
        await take(["a", "b", "c"])
        let vault = KeylessVault(harness.vault, by: VaultActor(command: "", host: ""))
        let ids = try ["a", "b", "c"].map {
            try #require(try harness.vault.newestRecord(of: user($0)))
        }
        let states: [VaultHistoryEvent] = [.revoked, .dead, .stored]
        try harness.vault.change(.users([]), releasing: nil) { _ in
            VaultChanges(
                history: zip(ids, states).map { record, event in
                    VaultHistoryEntry(
                        at: NumericDate(1_750_000_000), event: event, user: record.user,
                        fingerprint: record.id.fingerprint,
                        actor: VaultActor(command: "", host: ""))
                })
        }
        for name in ["a", "b", "c"] {
            _ = try vault.remove(user(name), at: NumericDate(1_760_000_000))
        }
        let lines = ["a", "b", "c"].map {
            #"{"user_id":"\#($0)","refresh_token":"r-hush-\#($0)","changed_at":1800000000}"# + "\n"
        }
        func run(_ flags: [String]) async -> [VaultState?] {
            harness.memory.with { $0.input = Array(lines.joined().utf8) }
            _ = await harness.run(["vault", "import", "-q"] + flags)
            return ["a", "b", "c"].map { try? harness.vault.newestRecord(of: user($0))?.state }
        }
        #expect(await run(["--dry-run"]) == [nil, nil, nil])
        #expect(await run([]) == [.revoked, .dead, .active])
        #expect(await run(["--overwrite-states"]) == [.active, .active, .active])
    }

    @Test func `rekey marks the old keys as retired, and keeps every other byte`() async throws {
        harness.memory.with { $0.files["/siwa/vault.key"]?.contents += Array("# note".utf8) }
        let before = harness.memory.with { $0.files["/siwa/vault.key"]?.contents ?? [] }
        #expect(await harness.run(["vault", "rekey", "-q"]).exitCode == 0)
        let after = harness.memory.with { $0.files["/siwa/vault.key"]?.contents ?? [] }
        let lines = String(decoding: after, as: UTF8.self).split(separator: "\n")
        let old = String(decoding: before, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == old[0] + " retired")
        #expect(lines[1] == "# note" && lines[2].hasPrefix("2 "))
        let keys = try VaultKeyRing(SecretBytes(after))
        #expect(keys.numbers == [1, 2] && keys.retiredNumbers == [1])
    }

    @Test func `rekey does not wait for another process that changes the keys`() async throws {
        let lock = try #require(harness.memory.lock("/siwa/vault.key.lock"))
        let outcome = await harness.run(["vault", "rekey"])
        #expect(outcome.exitCode == 75)
        #expect(outcome.written == [])
        lock.release()
        #expect(await harness.run(["vault", "rekey", "-q"]).exitCode == 0)
    }

    @Test func `a key that another process added meanwhile is used`() async throws {
        await take(["a"])
        var keys = harness.memory.with { $0.files["/siwa/vault.key"]?.contents ?? [] }
        keys += try VaultKeyRing.newLine(number: 7).revealed()
        harness.memory.with { $0.files["/siwa/vault.key"] = .init(contents: keys) }
        let outcome = await harness.run(["vault", "rekey", "--print", "key_number", "-q"])
        #expect(outcome.output == "7\n")
        #expect(outcome.written == ["/siwa/vault.key"], "key 1 is retired")
        let after = harness.memory.with { $0.files["/siwa/vault.key"]?.contents ?? [] }
        #expect(try VaultKeyRing(SecretBytes(after)).retiredNumbers == [1])
        #expect(try VaultKeyRing(SecretBytes(after)).numbers == [1, 7])
    }

    @Test(arguments: [
        ["list"], ["export"], ["check"], ["rekey"], ["show", "u"], ["remove", "u"], ["import"],
    ])
    func `an unreachable vault is a temporary error`(_ arguments: [String]) async {
        harness.memory.with { $0.input = Array(#"{"user_id":"u","token":"r-hush"}"#.utf8) }
        harness.vault.fail(with: StoreError(.unreachable, "the server went away"))
        let outcome = await harness.run(["vault"] + arguments)
        #expect(outcome.exitCode == 75)
        let errors = outcome.errors.filter { !$0.hasPrefix("siwa: note: configuration") }
        #expect(errors.first == "siwa: vault: the server went away")
        #expect(outcome.output == "" && outcome.written == [])
    }

    @Test func `init creates no key file if the database cannot be created`() async throws {
        harness.vault.fail(with: StoreError(.unusable, "the folder is read-only"))
        harness.memory.with { $0.files["/siwa/vault.key"] = nil }
        let outcome = await harness.run(["vault", "init"])
        #expect(outcome.exitCode == 3)
        #expect(outcome.written == [])
    }

    @Test func `more than one page is listed, moved and exported in order`() async throws {
        let names = (1000..<2203).map { "u\($0)" }
        await take(names.reversed())
        let outcome = await harness.run(["vault", "list", "--print", "records"])
        let records = try #require(try JSON(text: outcome.output).elements)
        #expect(records.map { $0["user_id"]?.string } == names)
        #expect(await harness.run(["vault", "list"]).output.split(separator: "\n").count == 1204)
        #expect(
            await harness.run(["vault", "rekey", "-q", "--print", "resealed"]).output == "1203\n")
        let lines = await harness.run(["vault", "export", "--reveal"]).output.split(separator: "\n")
        #expect(lines.count == 1203)
        #expect(lines.last?.contains("r-hush-u2202") == true)
    }

    @Test func `a word for a missing value is no token`() async {
        let rows = ["a,NULL", "b,\\N", "c,None", "d,n/a", "e,r-hush-e"]
        harness.memory.with {
            $0.input = Array((["user_id,token"] + rows).joined(separator: "\n").utf8)
        }
        let outcome = await harness.run(["vault", "import", "--print", "imported"])
        #expect(outcome.exitCode == 1)
        #expect(outcome.output == "1\n", "\(outcome.output)")
        #expect(
            outcome.errors.contains(
                "hint: line 2: the token is 'NULL', which programs write for a missing value: "
                    + "an unset variable?"))
    }

    @Test func `twenty of many invalid lines are named`() async {
        harness.memory.with { $0.input = Array(repeatElement("{}\n", count: 23).joined().utf8) }
        let outcome = await harness.run(["vault", "import"])
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.count { $0.hasPrefix("hint: line ") } == 20)
        #expect(outcome.errors.contains("hint: and 3 more"))
    }

    @Test(arguments: [
        ("sqlite:/a/b@c?d", "sqlite:/a/b@c?d"),
        ("postgresql://u:hush@h:5/d", "postgresql://u@h:5/d"),
        ("postgres://u:hu@sh/x@h/d?password=hush", "postgres://u@h/d"),
        (
            "postgresql:///d?host=/run&password=hush&port=5433",
            "postgresql:///d?host=/run&port=5433"
        ),
        ("postgresql://u:hu?sh@h/d", "postgresql://…"),
        ("postgresql://h/d", "postgresql://h/d"),
    ])
    func `a password is removed from a URL`(_ url: String, _ shown: String) {
        #expect(withoutPassword(url) == shown)
    }

    @Test(arguments: [
        ("sqlite:/a/b?host=c", "sqlite:/a/b?host=c"),
        ("postgresql://u:hush@h:5/d", "postgresql://u@h:5/d"),
        ("postgresql:///d?password=hush&host=/run", "postgresql:///d?host=/run (port=5)"),
        ("postgresql:///d", "postgresql:///d (host=db, port=5)"),
        ("postgresql://u@", "postgresql://u@ (host=db, port=5, dbname=app)"),
        ("postgresql://[::1]/d", "postgresql://[::1]/d (port=5)"),
        ("postgresql://u@:6/d?host=/run", "postgresql://u@:6/d?host=/run"),
        ("postgresql://u:hu?host=sh@h/d", "postgresql://…"),
    ])
    func `a vault is named by host and database, wherever they are set`(
        _ url: String, _ shown: String
    ) {
        let variables = ["PGHOST": "db", "PGPORT": "5", "PGDATABASE": "app", "PGPASSWORD": "hush"]
        #expect(vaultPlace(url) { variables[$0] } == shown)
    }
}

extension VaultStore {
    /// The active token of a user that was stored last, else the token that was stored last.
    fileprivate func newestRecord(of user: VaultUser) throws(StoreError) -> VaultRecord? {
        let records = try records(of: [user]).records
        let active = records.filter { $0.state == .active }
        return (active.isEmpty ? records : active).max {
            ($0.storedAt, $0.id) < ($1.storedAt, $1.id)
        }
    }
}
