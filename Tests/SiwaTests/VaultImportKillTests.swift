import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// After an import is killed at any moment, the same import completes correctly.
@Suite(.blocking) struct VaultImportKillTests {
    @Test(.timeLimit(.minutes(60)), arguments: VaultBackend.available)
    func `after kills at any moment, a repeated import has the result of an uninterrupted one`(
        _ backend: VaultBackend
    ) async throws {
        let fixture = try await VaultFixture(backend, Population(usual: 1, all: .migrates))
        var random = SeededRandom.announced(for: "kills of imports, \(backend)")
        // Stored in two transactions, between which a kill can come.
        let dump = Dump(wished("SIWA_IMPORT_RECORDS", usual: 3_000), &random)
        let input = fixture.apple.folder.path("dump.jsonl")
        try fixture.apple.folder.write("dump.jsonl", Array(dump.lines.joined().utf8))

        try dump.prepare(fixture)
        try fixture.run("CREATE TABLE known AS SELECT * FROM vault_token")
        let clock = ContinuousClock()
        let start = clock.now
        let counts = try await importAll(input, fixture)
        let usual = clock.now - start
        #expect(counts == dump.counts)
        let expected = try await Contents(fixture)
        #expect(expected.tokens == dump.tokens)

        let kills = wished("SIWA_IMPORT_KILLS", usual: 4)
        // So many, one after the other, and then the import that is not killed.
        let series = kills < 20 ? 3 : 5
        var moments = KillMoments(within: usual, random)
        var halves = 0
        for kill in 0..<kills {
            if kill % series == 0 { try dump.repeatPreparation(fixture) }
            try await moments.strike {
                try fixture.apple.start(
                    ["vault", "import", input], environment: fixture.environment)
            }
            let found = try fixture.vault().store.counts(of: nil).values.reduce(0, +)
            if found > dump.known.count, found < dump.tokens { halves += 1 }
            guard kill % series == series - 1 || kill == kills - 1 else { continue }
            _ = try await importAll(input, fixture)
            let faults = try fixture.vault().store.faults()
            #expect(faults.isEmpty, "\(faults)")
            // Not compared by Testing, which would print all of them.
            let isSame = try await Contents(fixture) == expected
            #expect(isSame, "the vault is another one after \(kill + 1) kills")
        }
        print("kills of imports, \(backend): \(halves) of \(kills) left a part of the tokens")
        // A few kills may all come while lines are read.
        #expect(halves > 0 || kills < 20)
    }

    private func importAll(_ input: String, _ fixture: VaultFixture) async throws -> JSON {
        let result = try await fixture.apple.siwa(
            "vault", "import", input, "--json", environment: fixture.environment)
        #expect(result.exitCode == 0, "\(result)")
        return try result.json
    }
}

/// What an app kept of its users: tokens in no order, some of them twice, some known to the vault.
private struct Dump {
    /// In the vault before the import.
    let known: [VaultItem]
    let lines: [String]
    /// How many different tokens there are.
    let tokens: Int
    let counts: JSON

    private static let start = NumericDate(1_760_000_000)

    init(_ count: Int, _ random: inout SeededRandom) {
        var lines: [String] = []
        var known: [VaultItem] = []
        var updated = 0
        for number in 0..<count {
            lines.append(Self.line(number, "active", 0))
            // The import can set active tokens to revoked, but not the reverse.
            switch number % 20 {
            case 3:
                known.append(Self.item(number, .active))
                lines[number] = Self.line(number, "revoked", 9)
                updated += 1
            case 7: known.append(Self.item(number, .revoked))
            case 11: known.append(Self.item(number, .dead))
            default: break
            }
        }
        let twice = count / 10
        for number in 0..<twice { lines.append(Self.line(number * 10 + 1, "active", 5)) }
        self.known = known
        self.lines = lines.shuffled(using: &random)
        tokens = count
        let imported = count - known.count
        counts = [
            "imported": .integer(imported), "updated": .integer(updated),
            "unchanged": .integer(lines.count - imported - updated), "invalid": 0,
        ]
    }

    private static func userID(_ number: Int) -> String {
        // In an order unrelated to the numbers.
        "\(String(number &* 7_919 % 1_000_003, radix: 36)).\(number)"
    }

    private static func line(_ number: Int, _ state: String, _ changed: Int) -> String {
        """
        {"client_id":"com.example.app","user_id":"\(userID(number))","refresh_token":"r-\(number)",\
        "state":"\(state)","stored_at":\(start.seconds),"changed_at":\(start.seconds + changed)}

        """
    }

    private static func item(_ number: Int, _ state: VaultState) -> VaultItem {
        VaultItem(
            user: VaultUser(
                ClientID(unchecked: "com.example.app"), UserID(unchecked: userID(number))),
            token: RefreshToken(SecretText("r-\(number)")), state: state, storedAt: start,
            changedAt: start)
    }

    /// A vault that has only what is known, as the table that was made after the first time has it.
    func repeatPreparation(_ fixture: VaultFixture) throws {
        try fixture.run("DELETE FROM vault_token")
        try fixture.run("DELETE FROM vault_history")
        let columns = """
            client_id, user_id, token_fingerprint, state, key_number, sealed, stored_at, \
            changed_at, checked_at, lease_owner, lease_until, given_back_at
            """
        try fixture.run("INSERT INTO vault_token (\(columns)) SELECT \(columns) FROM known")
    }

    /// A vault that has only what is known.
    func prepare(_ fixture: VaultFixture) throws {
        try fixture.run("DELETE FROM vault_token")
        try fixture.run("DELETE FROM vault_history")
        let vault = try fixture.vault()
        for start in stride(from: 0, to: known.count, by: 5000) {
            try vault.take(Array(known[start..<min(start + 5000, known.count)]), at: Self.start)
        }
    }
}

/// Everything that a vault holds, but for when it was imported.
private struct Contents: Equatable {
    struct Event: Hashable {
        let event: VaultHistoryEvent
        let user: VaultUser
        let fingerprint: TokenFingerprint
    }

    /// Every record with its token, a line each, in their order.
    let records: [UInt8]
    /// How often each event is in the history.
    var events: [Event: Int] = [:]

    /// How many records there are.
    var tokens: Int { records.count { $0 == UInt8(ascii: "\n") } }

    init(_ fixture: VaultFixture) async throws {
        let export = try await fixture.apple.siwa(
            "vault", "export", "--reveal", environment: fixture.environment)
        #expect(export.exitCode == 0, "\(export.errors)")
        records = export.outputBytes
        let store = try fixture.vault().store
        var position: VaultHistoryPosition?
        while case let page = try store.history(
            VaultHistoryFilter(), after: position, limit: 5000), let next = page.next
        {
            for entry in page.entries {
                let event = Event(
                    event: entry.event, user: entry.user, fingerprint: entry.fingerprint)
                events[event, default: 0] += 1
            }
            position = next
        }
    }
}
