import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// What siwa-server seals outside the records, as `vault rekey` and `vault check` read and replace it.
@Suite(.blocking) struct VaultSecretTests {
    private let client = VaultUser.sample(1).clientID
    private let actor = VaultActor(command: "test", host: "here")

    /// A vault with a real key, two jobs of the outbox and an answer of the journal.
    private func filled(
        _ fixture: any SQLStoreFixture
    ) throws -> (Vault, [VaultSecret.Row]) {
        let store = try fixture.store()
        let keys = try VaultKeyRing(VaultKeyRing.newLine(number: 1))
        try Vault.create(store, keys)
        let server = try fixture.serverStore()
        try server.prepare(isAlone: true)
        let vault = try Vault(server.vault, keys, by: actor)
        var rows: [VaultSecret.Row] = []
        for number in 1...2 {
            let fingerprint = TokenFingerprint.sample(number)
            let place = RevocationJob.place(of: fingerprint, client)
            let job = RevocationJob(
                number: 0, clientID: client, userID: nil, fingerprint: fingerprint,
                kind: .refreshToken, proof: .none, createdAt: NumericDate(1_790_000_000),
                secret: try vault.seal(SecretBytes("token \(number)".utf8), for: place))
            let request = RevocationRequest(
                id: "\(number)", clientID: client, userID: nil,
                requestedAt: NumericDate(1_790_000_000))
            rows.append(.job(try #require(server.add(request, [job]).jobs.first).number))
        }
        let request = try CodeRequest(
            AuthorizationCode(SecretText("c")), clientID: client, isClientGiven: true,
            verifier: nil, redirectURI: nil, nonce: nil)
        _ = try server.begin(request, for: .long("a"))
        let place = CodeEntry.place(of: request.code.bytes, client)
        let answer = try vault.seal(SecretBytes("answer".utf8), for: place)
        try server.finish(request.code, .answered(answer), by: "a")
        // An entry without an answer has no secret.
        let other = try CodeRequest(
            AuthorizationCode(SecretText("d")), clientID: client, isClientGiven: true,
            verifier: nil, redirectURI: nil, nonce: nil)
        _ = try server.begin(other, for: .long("a"))
        return (vault, rows + [.code(request.code.bytes)])
    }

    @Test(arguments: SQLBackend.available)
    func `a database without siwa-server's tables has no server secrets`(_ backend: SQLBackend)
        async throws
    {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.vault()
        let page = try store.secrets(notSealedWith: nil, after: nil, limit: 10)
        #expect(page.secrets.isEmpty && page.damaged.isEmpty && page.next == nil)
    }

    @Test(arguments: SQLBackend.available)
    func `outbox and journal are read page by page, decrypted and encrypted again`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let (vault, rows) = try filled(fixture)
        var (found, last): ([VaultSecret], VaultSecret.Row?) = ([], nil)
        while case let page = try vault.store.secrets(notSealedWith: nil, after: last, limit: 1),
            let next = page.next
        {
            found += page.secrets
            last = next
            try #require(found.count < 9)
        }
        #expect(found.map(\.row) == rows)
        for secret in found { try vault.open(secret) }

        let both = try VaultKeyRing(
            SecretBytes(vault.keys.lines.revealed() + VaultKeyRing.newLine(number: 2).revealed()))
        try vault.store.register(both.check(ofKey: 2))
        #expect(throws: StoreError.self, "the old key seals nothing any more") {
            try vault.reseal(found)
        }
        let newer = try Vault(vault.store, both, by: actor)
        // The second row was changed meanwhile.
        try fixture.run(
            "UPDATE revocation_job SET sealed = NULL, key_number = NULL WHERE id = $1", .integer(2))
        #expect(try newer.reseal(found) == 2)
        let numbers = try fixture.run("SELECT key_number FROM revocation_job ORDER BY id")
        #expect(numbers == [[.integer(2)], [.null]])
        let rest = try newer.store.secrets(notSealedWith: 2, after: nil, limit: 10)
        #expect(rest.secrets.isEmpty && rest.next == nil)
        let all = try newer.store.secrets(notSealedWith: 1, after: nil, limit: 10).secrets
        #expect(all.map(\.row) == [rows[0], rows[2]])
        for secret in all { try newer.open(secret) }
    }

    @Test(
        arguments: SQLBackend.available,
        [
            ("revocation_job", "client_id = 'a b'"), ("revocation_job", "token_fingerprint = 'x'"),
            ("revocation_job", "key_number = NULL"), ("revocation_job", "sealed = NULL"),
            ("revocation_job", "key_number = 9223372036854775807"),
            ("code_journal", "client_id = ''"), ("code_journal", "key_number = -1"),
            ("code_journal", "answer = NULL"),
        ])
    func `a damaged row is named, and the others are read`(
        _ backend: SQLBackend, _ damage: (table: String, change: String)
    ) async throws {
        let fixture = try await backend.fixture()
        let (vault, rows) = try filled(fixture)
        let condition = damage.table == "code_journal" ? "state = 'answered'" : "id = 1"
        try fixture.run("UPDATE \(damage.table) SET \(damage.change) WHERE \(condition)")
        for number in [nil, 7] {
            let page = try vault.store.secrets(notSealedWith: number, after: nil, limit: 10)
            let bad = damage.table == "code_journal" ? rows[2] : rows[0]
            #expect(page.secrets.map(\.row) == rows.filter { $0 != bad })
            #expect(page.damaged.count == 1)
            #expect(page.damaged.allSatisfy { $0.message.hasPrefix("\(bad) is damaged: ") })
        }
    }

    @Test(arguments: SQLBackend.available)
    func `the last state of a token is found under all ids of its user`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.vault()
        func entry(
            _ event: VaultHistoryEvent, _ user: Int, at time: Int, token: Int = 1,
            to new: Int? = nil
        ) -> VaultHistoryEntry {
            VaultHistoryEntry(
                at: NumericDate(time), event: event, user: .sample(user),
                fingerprint: .sample(token), actor: actor,
                newUserID: new.map { VaultUser.sample($0).userID })
        }
        #expect(try store.lastStates(of: [VaultRecordID(.sample(1), .sample(1))]) == [:])
        try store.change(.users([]), releasing: nil) { _ in
            VaultChanges(history: [
                entry(.stored, 1, at: 10), entry(.revoked, 1, at: 20), entry(.removed, 1, at: 30),
                entry(.stored, 2, at: 10, token: 2),
                entry(.dead, 3, at: 10), entry(.remapped, 3, at: 20, to: 4),
                entry(.remapped, 4, at: 30, to: 5), entry(.removed, 5, at: 40),
            ])
        }
        let ids = [(1, 1), (1, 2), (2, 2), (3, 1), (4, 1), (5, 1), (6, 1)].map {
            VaultRecordID(.sample($0), .sample($1))
        }
        let dead = VaultPastState(.dead, since: NumericDate(10))
        #expect(
            try store.lastStates(of: ids) == [
                ids[0]: VaultPastState(.revoked, since: NumericDate(20)),
                ids[2]: VaultPastState(.active, since: NumericDate(10)),
                ids[3]: dead, ids[4]: dead, ids[5]: dead,
            ])
    }
}
