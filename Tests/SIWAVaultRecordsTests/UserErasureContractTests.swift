import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// What the erasure of a user promises on both databases.
@Suite(.blocking) struct UserErasureContractTests {
    private let now = NumericDate(1_790_000_000)
    private let user = VaultUser.sample(1)
    private let web = VaultUser.sample(1, of: "com.example.web")

    private func job(_ token: Int, _ error: RevocationJob.Failure? = nil) -> RevocationJob {
        RevocationJob(
            number: 0, clientID: user.clientID, userID: user.userID, fingerprint: .sample(token),
            kind: .refreshToken, proof: .none, createdAt: now, lastError: error,
            secret: SealedSecret(keyNumber: 1, bytes: [9]))
    }

    private func add(_ job: RevocationJob, _ id: String, to store: ServerStore) throws {
        _ = try store.add(
            RevocationRequest(id: id, clientID: nil, userID: user.userID, requestedAt: now), [job])
    }

    private func erase(
        _ store: ServerStore, evenIfLive: Bool = false, answers: [CodeDigest] = []
    ) throws -> UserErasure {
        try store.erase(user.userID, evenIfLive: evenIfLive, answers: answers, events: .kept)
    }

    /// Ends all due jobs.
    private func work(_ store: ServerStore, _ events: RevocationEvents = .off) throws {
        for (job, _) in try store.claimRevocations(of: nil, limit: 10, for: .long("a")).jobs {
            var job = job
            _ = job.end(Revocation(status: 200, wasActive: nil, evidence: nil), at: now)
            #expect(try store.note(job, retryAfter: nil, by: "a", events: events))
        }
    }

    private let unknowns = [
        "SELECT count(*) FROM vault_token WHERE user_id = $1",
        "SELECT count(*) FROM vault_history WHERE user_id = $1 OR new_user_id = $1",
        "SELECT count(*) FROM inbox_event WHERE user_id = $1 AND body IS NOT NULL",
        "SELECT count(*) FROM revocation WHERE user_id = $1",
        "SELECT count(*) FROM revocation_job WHERE user_id = $1",
    ]

    private func isErased(_ user: VaultUser, in fixture: any SQLStoreFixture) throws -> Bool {
        try unknowns.allSatisfy {
            try fixture.run($0, .text(user.userID.rawValue)) == [[.integer(0)]]
        }
    }

    @Test(arguments: SQLBackend.available)
    func `everything about a user is erased, and nothing about others`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let other = VaultUser.sample(2)
        try store.vault.put([
            VaultRecord(user, .revoked), VaultRecord(web, .dead), VaultRecord(other),
        ])
        for user in [user, other] {
            try fixture.run(
                """
                INSERT INTO vault_history (at, event, client_id, user_id, token_fingerprint,
                    command, host) VALUES (1, 'stored', 'com.example.gone', $1, '', 'c', 'h')
                """, .text(user.userID.rawValue))
        }
        try store.receive([.sample(1, of: 1), .sample(2, of: 2)])
        try add(job(1), "1", to: store)
        #expect(try erase(store) == .revocationPending)
        #expect(try erase(store, evenIfLive: true) == .revocationPending)
        try work(store)
        #expect(try erase(store) == .erased)
        #expect(try isErased(user, in: fixture))
        #expect(try !isErased(other, in: fixture))
        #expect(try store.vault.record(of: other) == VaultRecord(other))
        #expect(try store.states() == ["event-1": .discarded, "event-2": .pending])
        #expect(try store.counts().present == [.discarded: 1, .pending: 1])
        let ended = try #require(try store.revocation("1"))
        #expect(ended.state == .revoked && ended.request.userID == nil)
        #expect(ended.jobs.map(\.userID) == [nil])
        // Unknown users are erased, too.
        #expect(try erase(store) == .erased)
    }

    @Test(arguments: SQLBackend.available)
    func `a token that may still work prevents the erasure, unless it is forced`(
        _ backend: SQLBackend
    ) async throws {
        for state in VaultState.allCases {
            let fixture = try await backend.fixture()
            let store = try fixture.preparedServerStore()
            try store.vault.put([VaultRecord(web, state)])
            let mayWork = [.active, .revoking].contains(state)
            #expect(try erase(store) == (mayWork ? .tokenMayWork : .erased), "\(state)")
            #expect(try isErased(user, in: fixture) == !mayWork)
            #expect(try erase(store, evenIfLive: true) == .erased)
            #expect(try isErased(user, in: fixture))
        }
        // The state of a damaged row is unknown.
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try store.vault.put([VaultRecord(user, .revoked)])
        try fixture.run("UPDATE vault_token SET state = 'odd'")
        #expect(try erase(store) == .tokenMayWork)
        #expect(try erase(store, evenIfLive: true) == .erased)
        #expect(try isErased(user, in: fixture))
    }

    @Test(arguments: SQLBackend.available)
    func `a revocation that waits for a profile ends, and its event names no user`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        try add(job(1, .init("client_without_profile", "none")), "1", to: store)
        _ = try store.promise(revocation: "1")
        #expect(try erase(store) == .tokenMayWork)
        #expect(try store.revocation("1")?.jobs.first?.secret != nil)
        #expect(try erase(store, evenIfLive: true) == .erased)
        #expect(try isErased(user, in: fixture))
        let ended = try #require(try store.revocation("1"))
        #expect(ended.state == .dead && ended.jobs.allSatisfy { $0.secret == nil })
        let id = try #require(EventID("siwa-revocation-1"))
        let body = try #require(try store.inboxEvent(id).entries.first?.body)
        let event = try JSON(body)
        #expect(event["state"] == "dead" && event["user_id"] == nil, "\(event)")
        #expect(try store.retry(revocation: "1")?.state == .dead)
        // Nobody has to look at it.
        let counts = try store.counts()
        #expect(counts.revocations[.dead] == 1 && counts.givenUp == 0)
    }

    @Test(arguments: SQLBackend.available)
    func `all ids that the user has had are erased`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let new = VaultUser.sample(7)
        try store.vault.put([VaultRecord(new, .revoked)])
        try fixture.run(
            """
            INSERT INTO vault_history (at, event, client_id, user_id, token_fingerprint, command,
                host, new_user_id) VALUES (1, 'remapped', $1, $2, '', 'c', 'h', $3)
            """, .text(user.clientID.rawValue), .text(user.userID.rawValue),
            .text(new.userID.rawValue))
        try store.receive([.sample(1, of: 7)])
        #expect(try erase(store) == .erased)
        #expect(try isErased(user, in: fixture) && isErased(new, in: fixture))
    }

    @Test(arguments: SQLBackend.available)
    func `stored answers are erased`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let codes = try ["1", "2"].map { code in
            try CodeRequest(
                AuthorizationCode(SecretText(code)), clientID: user.clientID, isClientGiven: true,
                verifier: nil, redirectURI: nil, nonce: nil)
        }
        let answer = SealedSecret(keyNumber: 1, bytes: [4, 0, 5])
        for request in codes {
            #expect(try store.begin(request, for: .long("a")) == .send)
            try store.finish(request.code, .answered(answer), by: "a")
        }
        let kept = try store.keptAnswers(after: nil, limit: 10)
        #expect(Set(kept.map(\.code)) == Set(codes.map(\.code)))
        #expect(kept.allSatisfy { $0.answer == answer && $0.clientID == user.clientID })
        let rest = try store.keptAnswers(after: kept[0].code, limit: 10)
        #expect(rest.map(\.code) == [kept[1].code])
        #expect(try erase(store, answers: [codes[0].code]) == .erased)
        #expect(try store.begin(codes[0], for: .long("b")) == .alreadySent)
        #expect(try store.begin(codes[1], for: .long("b")) == .replay(answer, user.clientID))
    }
}
