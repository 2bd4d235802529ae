import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// Several tokens of a user, and rows that cannot be used.
@Suite(.timeLimit(.minutes(5))) struct VaultTokensTests {
    private func fingerprints(_ fixture: VaultFixture, to path: String) async throws -> [String] {
        let parameter = path == "/auth/revoke" ? "token" : "refresh_token"
        return try await fixture.apple.requests(to: path).compactMap {
            $0["fingerprints"]?[parameter]?.string
        }
    }

    @Test func `an import names clients that no profile has`() async throws {
        let fixture = try await VaultFixture(.sqlite, Population(usual: 1, all: .migrates))
        let lines = ["com.example.old", "com.example.app"].map {
            #"{"user_id":"u","client_id":"\#($0)","refresh_token":"r.made.1"}"#
        }
        let result = try await fixture.apple.siwa(
            "vault", "import", input: lines.joined(separator: "\n"),
            environment: fixture.environment)
        #expect(result.exitCode == 0, "\(result)")
        #expect(
            result.errors.contains("refreshed nor revoked until one has: com.example.old\n"),
            "\(result)")
    }

    /// Two users, the first of whom signed in twice.
    private func twoSignIns(
        _ backend: VaultBackend
    ) async throws -> (VaultFixture, older: String, newest: Set<String>) {
        let fixture = try await VaultFixture(backend, Population(usual: 2, all: .migrates))
        let older = try await fixture.store([1])
        try fixture.run("UPDATE vault_token SET stored_at = stored_at - 60")
        let newest = try await fixture.store([1, 2])
        return (fixture, try #require(older.first), newest)
    }

    @Test(arguments: VaultBackend.available)
    func `a batch refreshes the newest token of each user, and with --all every token`(
        _ backend: VaultBackend
    ) async throws {
        let (fixture, older, newest) = try await twoSignIns(backend)
        let daily = ["batch", "refresh", "--vault", "--not-checked-for", "23h", "-q"]
        let first = try await fixture.apple.siwa(daily, environment: fixture.environment)
        #expect(first.exitCode == 0, "\(first)")
        let lines = try VaultFixture.results(first).lines
        #expect(Set(lines.compactMap { $0["token_fingerprint"]?.string }) == newest)
        #expect(try await Set(fingerprints(fixture, to: "/auth/token")) == newest)
        let second = try await fixture.apple.siwa(daily, environment: fixture.environment)
        #expect(second.exitCode == 0 && second.output.isEmpty, "\(second)")
        let all = try await fixture.apple.siwa(
            daily + ["--all"], environment: fixture.environment)
        #expect(all.exitCode == 0, "\(all)")
        let rest = try VaultFixture.results(all).lines
        #expect(rest.map { $0["token_fingerprint"]?.string } == [older])
        #expect(rest.first?["id"]?.string == fixture.people.userID(1))
        #expect(try await fingerprints(fixture, to: "/auth/token").count == 3)
    }

    @Test(arguments: VaultBackend.available)
    func `revoke --user revokes both tokens of a user`(_ backend: VaultBackend) async throws {
        let (fixture, older, newest) = try await twoSignIns(backend)
        let user = fixture.people.userID(1)
        let fault: JSON = ["endpoint": "/auth/revoke", "status": 503, "count": 1]
        try await fixture.apple.post("faults", fault)
        let call = ["revoke", "--user", user, "--check-first"]
        let torn = try await fixture.apple.siwa(
            call + ["--max-attempts", "1"], environment: fixture.environment)
        #expect(torn.exitCode == 75, "\(torn)")
        #expect(try torn.json["revoked"] == false && torn.json["tokens"]?.elements?.count == 2)
        #expect(try torn.json["tokens"]?.elements?.count { $0["revoked"] == true } == 1)
        let whole = try await fixture.apple.siwa(call, environment: fixture.environment)
        #expect(whole.exitCode == 0, "\(whole)")
        #expect(try whole.json["revoked"] == true && whole.json["confirmed"] == true)
        let tokens = try #require(try fixture.opened()[fixture.user(1)])
        #expect(tokens.map(\.state) == [.revoked, .revoked])
        let sent = Set(try await fingerprints(fixture, to: "/auth/revoke"))
        #expect(sent == Set(tokens.map { SecretText($0.token).fingerprint }))
        #expect(sent.contains(older) && !sent.isDisjoint(with: newest))
        for token in tokens {
            let dead = try await fixture.apple.siwa("refresh", "--token", "-", input: token.token)
            #expect(dead.exitCode == 5, "\(dead)")
        }
        #expect(try fixture.opened()[fixture.user(2)]?.map(\.state) == [.active])
    }

    @Test(arguments: VaultBackend.available)
    func `every command names damaged rows and processes the others`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: 5, all: .migrates))
        _ = try await fixture.store(Array(1...5))
        let users = (1...5).map { fixture.people.userID($0) }
        let damage = "WHERE user_id = '"
        try fixture.run(
            "UPDATE vault_token SET stored_at = 9223372036854775807 \(damage)\(users[0])'")
        try fixture.run("UPDATE vault_token SET key_number = 0 \(damage)\(users[1])'")
        if backend == .sqlite {
            let bytes = Value.invalidText([0x75, 0xFF])
            try fixture.run("UPDATE vault_token SET user_id = $1 \(damage)\(users[2])'", bytes)
        } else {
            try fixture.run(
                "UPDATE vault_token SET changed_at = -9223372036854775808 "
                    + "\(damage)\(users[2])'")
        }
        for (command, status) in [("refresh", "done"), ("refresh", "none"), ("revoke", "done")] {
            let call = ["batch", command, "--vault", "--json", "--not-checked-for", "23h"]
            let result = try await fixture.apple.siwa(call, environment: fixture.environment)
            #expect(result.exitCode == 3, "\(result)")
            let (lines, summary) = try VaultFixture.results(result)
            let named = lines.filter { $0["status"] == "invalid" }
            #expect(named.count == 3, "\(result)")
            #expect(
                named.allSatisfy {
                    $0["error"]?["message"]?.string?.contains(" is damaged: ") == true
                })
            let good = lines.filter { $0["status"] == "done" }.compactMap { $0["id"]?.string }
            let isExpected = Set(good) == (status == "done" ? Set(users[3...]) : [])
            // What was refreshed a moment ago is not due for a revocation either.
            #expect(isExpected || command == "revoke", "\(result)")
            #expect(summary?["leased"] == 0, "\(result)")
        }
    }

    @Test(arguments: VaultBackend.available)
    func `an import names a damaged row, and imports the other tokens`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: 1, all: .migrates))
        let known = try #require(try await fixture.store([1]).first)
        let user = fixture.people.userID(1)
        let token = try #require(try fixture.opened()[fixture.user(1)]?.first?.token)
        for (number, change) in [
            "stored_at = 9223372036854775807", "changed_at = 9223372036854775807",
            "checked_at = 9223372036854775807", "key_number = 9223372036854775807",
            "state = 'sleeping'",
        ].enumerated() {
            try fixture.run("UPDATE vault_token SET \(change) WHERE user_id = '\(user)'")
            let lines = [
                #"{"user_id":"\#(user)","refresh_token":"\#(token)"}"#,
                #"{"user_id":"u\#(number)","refresh_token":"r.made.\#(number)"}"#,
            ]
            for call in [["vault", "import", "--dry-run"], ["vault", "import"]] {
                let result = try await fixture.apple.siwa(
                    call, input: lines.joined(separator: "\n"), environment: fixture.environment)
                #expect(result.exitCode == 3, "\(change): \(result)")
                #expect(result.errors.contains("1 fault is in the vault"), "\(change): \(result)")
                #expect(
                    result.errors.contains(
                        "hint: token '\(known)' of '\(user)' of 'com.example.app' is damaged: "),
                    "\(change): \(result)")
                let json = try result.json
                #expect(json["imported"] == 1 && json["updated"] == 0 && json["unchanged"] == 0)
            }
            let stored = VaultUser(
                ClientID(unchecked: "com.example.app"), UserID(unchecked: "u\(number)"))
            #expect(try fixture.vault().store.records(of: [stored]).records.count == 1, "\(change)")
        }
    }

    @Test(arguments: VaultBackend.available)
    func `rekey encrypts all other records with a new key if a row is damaged`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: 2, all: .migrates))
        _ = try await fixture.store([1, 2])
        let user = fixture.people.userID(1)
        try fixture.run("UPDATE vault_token SET key_number = 7 WHERE user_id = '\(user)'")
        let result = try await fixture.apple.siwa(
            "vault", "rekey", environment: fixture.environment)
        #expect(result.exitCode == 3, "\(result)")
        #expect(result.errors.contains("1 records were encrypted with key 2"), "\(result)")
        let records = try fixture.vault().store.records(of: [fixture.user(2)]).records
        #expect(records.map(\.keyNumber) == [2])
    }

    @Test(
        arguments: VaultBackend.available,
        [("r0123\u{A0}", "it has the character U+00A0"), ("", "it is empty")])
    func `a stored text that cannot be a token is neither sent nor called revoked`(
        _ backend: VaultBackend, _ bad: (text: String, fault: String)
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: 2, all: .migrates))
        let good = try await fixture.store([2])
        // As if another program that has the key had stored it.
        let moment = NumericDate(1_700_000_000)
        let token = RefreshToken(SecretText(bad.text))
        try fixture.vault().take(
            [
                VaultItem(
                    user: fixture.user(1), token: token, storedAt: moment, changedAt: moment)
            ], at: moment)
        let user = fixture.people.userID(1)
        for call in [
            ["batch", "refresh", "--vault", "--not-checked-for", "0s"],
            ["refresh", "--user", user],
            ["refresh", "--user", user, "--all"], ["revoke", "--user", user, "--confirm"],
            ["batch", "revoke", "--vault"],
        ] {
            let result = try await fixture.apple.siwa(call, environment: fixture.environment)
            #expect(result.exitCode == 3, "\(result)")
            let said = call[0] == "batch" ? result.output : result.errors
            #expect(said.contains("cannot be sent: \(bad.fault)"), "\(result)")
            if call[0] == "batch" {
                let lines = try VaultFixture.results(result).lines
                #expect(lines.count == 2)
                #expect(lines.contains { $0["id"]?.string == user && $0["status"] == "invalid" })
                #expect(lines.contains { $0["id"]?.string != user && $0["status"] == "done" })
            }
        }
        for path in ["/auth/token", "/auth/revoke"] {
            #expect(try await Set(fingerprints(fixture, to: path)) == good)
        }
    }

    @Test(arguments: VaultBackend.available)
    func `tokens that are moved while they are revoked end as revoked`(
        _ backend: VaultBackend
    ) async throws {
        let count = 6
        let fixture = try await VaultFixture(backend, Population(usual: count, all: .migrates))
        _ = try await fixture.store(Array(1...count))
        let fault: JSON = ["endpoint": "/auth/revoke", "delay": "3s", "count": .integer(count)]
        try await fixture.apple.post("faults", fault)
        let batch = try fixture.apple.start(
            ["batch", "revoke", "--vault"], environment: fixture.environment)
        try await eventually("Apple has all revocations") {
            try await fixture.apple.requests(to: "/auth/revoke").count == count
        }
        let lines = (1...count).map { number in
            #"{"old_user_id":"\#(fixture.people.userID(number))","user_id":"new\#(number)"}"# + "\n"
        }
        let moved = try await fixture.apple.siwa(
            ["vault", "remap"], input: lines.joined(), environment: fixture.environment)
        #expect(try moved.json["moved"]?.integer == count, "\(moved)")
        let result = try await batch.result()
        #expect(result.exitCode == 0, "\(result)")
        let records = try fixture.opened()
        #expect(records.keys.allSatisfy { $0.userID.rawValue.hasPrefix("new") })
        #expect(records.values.allSatisfy { $0.map(\.state) == [.revoked] }, "\(records)")
        let next = try await fixture.apple.siwa(
            "batch", "revoke", "--vault", "--json", environment: fixture.environment)
        #expect(try VaultFixture.results(next).summary?["leased"] == 0, "\(next)")
    }
}
