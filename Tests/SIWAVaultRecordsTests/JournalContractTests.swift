import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// What the journal of codes promises on both databases.
@Suite(.blocking) struct JournalContractTests {
    private func request(_ code: String = "c", nonce: String? = nil) throws -> CodeRequest {
        try CodeRequest(
            AuthorizationCode(SecretText(code)), clientID: VaultUser.sample(1).clientID,
            isClientGiven: true, verifier: nil, redirectURI: nil, nonce: nonce)
    }

    private let answer = SealedSecret(keyNumber: 1, bytes: [4, 0, 5])

    @Test(arguments: SQLBackend.available)
    func `a code is sent once, and its answer is repeated`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let request = try request()
        #expect(try store.begin(request, for: .long("a")) == .send)
        #expect(try store.begin(request, for: .long("b")) == .wait)
        #expect(try store.begin(self.request(nonce: "n"), for: .long("b")) == .conflict)
        try store.finish(request.code, .answered(answer), by: "b")
        #expect(try store.begin(request, for: .long("b")) == .wait)
        try store.finish(request.code, .answered(answer), by: "a")
        #expect(try store.begin(request, for: .long("b")) == .replay(answer, request.clientID))
        try fixture.run("UPDATE code_journal SET changed_at = changed_at - 600000")
        #expect(try store.begin(request, for: .long("b")) == .alreadySent)
        try fixture.run("UPDATE code_journal SET changed_at = changed_at - 86400000")
        #expect(try store.purge(Retention(), limit: 10) == 1)
        #expect(try fixture.run("SELECT * FROM code_journal") == [])
    }

    @Test(arguments: SQLBackend.available)
    func `an answer is erased after ten minutes, and the entry is kept`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        #expect(try store.eraseAnswers(limit: 10) == nil)
        for code in ["1", "2", "3"] {
            #expect(try store.begin(request(code), for: .long("a")) == .send)
            try store.finish(request(code).code, .answered(answer), by: "a")
        }
        let next = try #require(try store.eraseAnswers(limit: 10))
        #expect(next > .seconds(500) && next <= .seconds(600))
        try fixture.run("UPDATE code_journal SET changed_at = changed_at - 600000")
        #expect(try store.eraseAnswers(limit: 2) == .zero)
        let left = "SELECT count(*) FROM code_journal WHERE answer IS NOT NULL"
        #expect(try fixture.run(left) == [[.integer(1)]])
        #expect(try store.eraseAnswers(limit: 2) == nil)
        #expect(try fixture.run(left) == [[.integer(0)]])
        #expect(try store.begin(request("1"), for: .long("b")) == .alreadySent)
    }

    @Test(arguments: SQLBackend.available)
    func `a code whose process was killed may be spent`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        #expect(try store.begin(request("1"), for: .long("a")) == .send)
        try fixture.run("UPDATE code_journal SET lease_until = 1")
        #expect(try store.begin(request("1"), for: .long("b")) == .mayBeSpent)
        try store.renew([request("1").code], for: .long("a"))
        #expect(try store.begin(request("1"), for: .long("b")) == .wait)
        try fixture.serverStore().prepare(isAlone: true)
        #expect(try store.begin(request("1"), for: .long("b")) == .mayBeSpent)
        #expect(try store.begin(request("2"), for: .long("a")) == .send)
        try store.finish(request("2").code, .unanswered, by: "a")
        #expect(try store.begin(request("2"), for: .long("b")) == .mayBeSpent)
        #expect(try store.begin(request("3"), for: .long("a")) == .send)
        try store.finish(request("3").code, .notSent, by: "a")
        #expect(try store.begin(request("3"), for: .long("b")) == .send)
    }

    @Test(arguments: SQLBackend.available)
    func `of several callers with the same code, one sends it`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        _ = try fixture.preparedServerStore()
        let sent = Mutex<[Int]>([])
        let requests = try (0..<20).map { try request("\($0)") }
        try atOnce(4) { number in
            let store = try fixture.serverStore()
            for (index, request) in requests.enumerated() {
                if try store.begin(request, for: .long("\(number)")) == .send {
                    sent.withLock { $0.append(index) }
                }
            }
        }
        #expect(sent.withLock { $0.sorted() } == Array(0..<20))
    }

    @Test(arguments: SQLBackend.available)
    func `an answer is recorded in the transaction that stores its token`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let request = try request()
        #expect(try store.begin(request, for: .long("a")) == .send)
        let vault = store.vault(
            finishing: request.code, .answered(answer), by: "a", heeding: [])
        #expect(throws: StoreError.self) {
            try vault.change(.users([.sample(1)]), releasing: nil) { _ throws(StoreError) in
                throw StoreError(.sealBroken, "no")
            }
        }
        #expect(try store.begin(request, for: .long("b")) == .wait)
        try vault.put([VaultRecord(.sample(1))])
        #expect(try store.begin(request, for: .long("b")) == .replay(answer, request.clientID))
        #expect(try store.vault.record(of: .sample(1)) == VaultRecord(.sample(1)))
    }

    @Test(arguments: SQLBackend.available)
    func `storing a token returns the events of its user that concern its client`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.receive([
            .sample(1, at: 20), .sample(2, at: 10), .sample(3, of: 2, at: 5), .sample(4, at: 30),
        ])
        _ = try store.keep(.sample(5), limit: 10)
        _ = try store.forget(VaultUser.sample(1).userID)
        try fixture.run("UPDATE inbox_event SET type = 'account-deleted' WHERE jti = 'event-1'")
        try fixture.run("UPDATE inbox_event SET type = 'email-enabled' WHERE jti = 'event-4'")
        let code = try request().code
        func notices(_ audiences: [ClientID]) throws -> [VaultEvent] {
            var found: [VaultNotice] = []
            try store.vault(finishing: code, .notSent, by: "a", heeding: audiences)
                .change(.users([.sample(1)]), releasing: nil) { page throws(StoreError) in
                    found = page.notices
                    return VaultChanges()
                }
            #expect(found.allSatisfy { $0.users == [.sample(1)] })
            return found.map(\.event)
        }
        let client = VaultUser.sample(1).clientID
        let start = NumericDate(1_790_000_000)
        #expect(
            try notices([ClientID(unchecked: "com.example.other"), client]) == [
                .consentRevoked(at: start + .seconds(10)),
                .accountDeleted(at: start + .seconds(20)),
            ])
        #expect(try notices([ClientID(unchecked: "com.example.other")]).isEmpty)
    }

    @Test(arguments: SQLBackend.available)
    func `a damaged entry is named, and its code is not sent`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        for change in ["state = 'odd'", "client_id = 'a b'", "key_number = 0, answer = sha256"] {
            try fixture.run("DELETE FROM code_journal")
            #expect(try store.begin(request(), for: .long("a")) == .send)
            let sql = change.replacing("sha256", with: "code_sha256")
            try fixture.run("UPDATE code_journal SET \(sql)")
            let error = #expect(throws: StoreError.self) {
                try store.begin(request(), for: .long("b"))
            }
            #expect(error?.kind == .recordDamaged, "\(change)")
        }
    }
}

/// What the tokens of the API promise on both databases.
@Suite(.blocking) struct APITokenContractTests {
    @Test(arguments: SQLBackend.available)
    func `API tokens are added, listed and removed by name`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let tokens = ["app", "cron"].map { name in
            APIToken(
                name: name, digest: Array(repeating: 7, count: 32), scopes: [.exchange, .read],
                createdAt: NumericDate(1_790_000_000),
                expiresAt: name == "app" ? nil : NumericDate(1_800_000_000))
        }
        #expect(try store.add(tokens[1]))
        #expect(try store.add(tokens[0]))
        #expect(try !store.add(tokens[0]))
        #expect(try fixture.serverStore().apiTokens().tokens == tokens)
        #expect(try store.removeAPIToken("app"))
        #expect(try !store.removeAPIToken("app"))
        #expect(try store.apiTokens().tokens == [tokens[1]])
        #expect(try store.add(tokens[0]))
        try fixture.run("UPDATE api_token SET scopes = 'root' WHERE name = 'cron'")
        let page = try store.apiTokens()
        #expect(page.tokens == [tokens[0]])
        #expect(
            page.damaged.map(\.message)
                == ["API token 'cron' is damaged: its scopes are unknown"])
    }
}
