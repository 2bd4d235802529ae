import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Synchronization
import Testing

@testable import SIWADatabases
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// What the outbox promises on both databases.
@Suite(.blocking) struct OutboxContractTests {
    private let now = NumericDate(1_790_000_000)

    private func request(_ id: String) -> RevocationRequest {
        RevocationRequest(
            id: id, clientID: nil, userID: VaultUser.sample(1).userID, requestedAt: now)
    }

    private func job(_ token: Int, _ proof: Revocation.Proof = .none) -> RevocationJob {
        let user = VaultUser.sample(1)
        return RevocationJob(
            number: 0, clientID: user.clientID, userID: user.userID, fingerprint: .sample(token),
            kind: .refreshToken, proof: proof, createdAt: now,
            secret: SealedSecret(keyNumber: 1, bytes: [9, UInt8(token)]))
    }

    private func due(_ store: ServerStore, _ owner: String) throws -> [RevocationJob] {
        try store.claimRevocations(of: nil, limit: 100, for: .long(owner)).jobs.map(\.job)
    }

    @Test(arguments: SQLBackend.available)
    func `requests share the job of a token, and end with the last job`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        let first = try store.add(request("1"), [job(1), job(2)])
        #expect(first.state == .pending && first.jobs.count == 2)
        #expect(first.jobs.map(\.secret?.bytes) == [[9, 1], [9, 2]])
        let second = try store.add(request("2"), [job(2, .beforeAndAfterwards), job(3)])
        #expect(Set(second.jobs.map(\.number)).intersection(first.jobs.map(\.number)).count == 1)
        var jobs = try due(store, "a")
        #expect(jobs.map(\.fingerprint) == [.sample(1), .sample(2), .sample(3)])
        #expect(jobs[1].proof == .beforeAndAfterwards)
        #expect(try due(store, "b") == [])
        for index in jobs.indices {
            let revocation = Revocation(
                status: 200, wasActive: true, evidence: .acceptedThenRejected, refreshStatus: 400,
                requestID: "r\(index)")
            let hasEnded = jobs[index].end(revocation, at: now)
            #expect(hasEnded)
            #expect(try !store.note(jobs[index], retryAfter: nil, by: "b"))
            #expect(try store.note(jobs[index], retryAfter: nil, by: "a"))
            #expect(try !store.note(jobs[index], retryAfter: nil, by: "a"))
            let states = try ["1", "2"].map { try #require(try store.revocation($0)).state }
            #expect(states == [index < 1 ? .pending : .revoked, index < 2 ? .pending : .revoked])
        }
        let ended = try #require(try store.revocation("2"))
        #expect(ended.endedAt != nil && ended.jobs.allSatisfy { $0.secret == nil })
        #expect(ended.jobs.map(\.progress) == jobs[1...].map(\.progress))
        let counts = try store.counts()
        #expect(counts.revocations.filter { $0.value != 0 } == [.revoked: 2])
        #expect(counts.oldestPendingRevocation == nil)
        #expect(try store.revocations([], limit: 10).revocations.map(\.request.id) == ["2", "1"])
        #expect(try store.revocations([.pending], limit: 10).revocations.isEmpty)
        let again = try store.add(request("3"), [job(1)])
        #expect(again.state == .pending)
        #expect(!first.jobs.map(\.number).contains(again.jobs[0].number))
        #expect(try store.add(request("4"), []).state == .revoked)
        #expect(try store.revocation("5") == nil)
    }

    @Test(arguments: SQLBackend.available)
    func `progress is kept, a failed job is repeated later, and a dead one from the beginning`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        _ = try store.add(request("1"), [job(1, .beforeAndAfterwards)])
        var job = try #require(try due(store, "a").first)
        job.progress = Revocation(wasActive: true)
        #expect(try store.note(job, retryAfter: nil, by: "a"))
        #expect(try due(store, "b") == [])
        try fixture.run("UPDATE revocation_job SET due_at = 1")
        var again = try #require(try due(store, "b").first)
        #expect(again.progress == job.progress)
        #expect(try !store.note(job, retryAfter: .zero, by: "a"))
        #expect(try store.renewRevocations([again.number], for: .long("b")) == [again.number])
        #expect(try store.renewRevocations([again.number], for: .long("a")) == [])
        let delay = again.fail(.init("http", "HTTP 503"), age: .zero, jitter: 0, at: now)
        #expect(try store.note(again, retryAfter: delay, by: "b"))
        let failed = try #require(try store.revocation("1")?.jobs.first)
        #expect(failed.attempts == 1 && failed.lastError == .init("http", "HTTP 503"))
        #expect(failed.nextAttemptAt != nil)
        _ = try store.retry(revocation: "1")
        var last = try #require(try due(store, "c").first)
        _ = last.fail(.init("http", "HTTP 503"), age: .seconds(2_592_000), jitter: 0, at: now)
        #expect(try store.note(last, retryAfter: nil, by: "c"))
        #expect(try store.revocation("1")?.state == .dead)
        #expect(try store.retry(revocation: "1")?.state == .pending)
        let revived = try #require(try due(store, "d").first)
        #expect(revived.attempts == 0 && revived.secret != nil)
        #expect(try store.retry(revocation: "9") == nil)
        #expect(try store.counts().revocations.filter { $0.value != 0 } == [.pending: 1])
    }

    @Test(arguments: SQLBackend.available)
    func `jobs that end at the same time end their request`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        let (tokens, now) = (40, now)
        _ = try store.add(request("all"), (0..<tokens).map { job($0) })
        for token in 0..<tokens { _ = try store.add(request("\(token)"), [job(token)]) }
        try atOnce(4) { number in
            let store = try fixture.serverStore()
            while true {
                let due = try store.claimRevocations(of: nil, limit: 3, for: .long("\(number)"))
                if due.jobs.isEmpty { return }
                for (job, _) in due.jobs {
                    var job = job
                    _ = job.end(
                        Revocation(status: 200, wasActive: nil, evidence: nil), at: now)
                    #expect(try store.note(job, retryAfter: nil, by: "\(number)"))
                }
            }
        }
        #expect(try store.revocation("all")?.state == .revoked)
        let counts = try store.counts().revocations.filter { $0.value != 0 }
        #expect(counts == [.revoked: tokens + 1])
    }

    @Test(arguments: SQLBackend.available)
    func `an attempt that has only the code does not overwrite the token`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        var code = job(1)
        code.kind = .code
        _ = try store.add(request("1"), [code])
        let claimed = try #require(try due(store, "a").first)
        var (exchanged, late) = (claimed, claimed)
        exchanged.take(SealedSecret(keyNumber: 1, bytes: [9, 2]), .sample(2), of: nil)
        #expect(try store.note(exchanged, retryAfter: nil, by: "a"))
        late.loseCode(at: now)
        #expect(try !store.note(late, retryAfter: nil, by: "a"))
        let kept = try #require(try store.revocation("1")?.jobs.first)
        #expect(kept.kind == .refreshToken && kept.secret?.bytes == [9, 2])
        #expect(try store.note(exchanged, retryAfter: .zero, by: "a"))
    }

    @Test(arguments: SQLBackend.available)
    func `the end of a promised request is an event outside its user's order`(
        _ backend: SQLBackend
    ) async throws {
        for events in [RevocationEvents.off, .kept, .delivered] {
            let fixture = try await backend.fixture()
            let store = try fixture.preparedServerStore()
            // The user's earlier event is being delivered.
            try store.receive([.sample(1, of: 1)])
            #expect(try store.claimed() == [1])
            _ = try store.add(request("1"), [job(1)])
            _ = try store.add(request("2"), [job(1)])
            #expect(try store.promise(revocation: "1")?.state == .pending)
            #expect(try store.promise(revocation: "9") == nil)
            var claimed = try #require(try due(store, "a").first)
            _ = claimed.end(Revocation(status: 200, wasActive: nil, evidence: nil), at: now)
            #expect(try store.note(claimed, retryAfter: nil, by: "a", events: events))
            #expect(try store.promise(revocation: "2")?.state == .revoked)
            let entry = try store.inboxEvent(#require(EventID("siwa-revocation-1"))).entries.first
            #expect(
                try store.inbox(InboxFilter(), before: nil, limit: 10).entries.count
                    == (events == .off ? 1 : 2))
            #expect(entry?.state == [.kept: InboxState.none, .delivered: .pending][events])
            // Apple's events only, unless others are asked for.
            guard events == .delivered else { continue }
            let event = try JSON(try #require(entry?.body))
            #expect(
                event.members?.map(\.name) == [
                    "type", "revocation_id", "user_id", "state", "requested_at", "ended_at", "jti",
                ])
            #expect(event["type"] == "revocation.ended" && event["state"] == "revoked")
            #expect(event["jti"] == "siwa-revocation-1" && event["revocation_id"] == "1")
            // Neither waits for the other.
            #expect(try store.claimed() == [1])
            try store.receive([.sample(2, of: 2), .sample(3, of: 2, at: 1)])
            #expect(try store.claimed() == [2])
        }
    }

    @Test(arguments: SQLBackend.available)
    func `requests are listed by user and state, page by page`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        for number in 1...5 { _ = try store.add(request("\(number)"), [job(number)]) }
        _ = try store.add(
            RevocationRequest(
                id: "other", clientID: nil, userID: VaultUser.sample(2).userID, requestedAt: now),
            [])
        let filter = RevocationFilter(states: [.pending], userID: VaultUser.sample(1).userID)
        var (seen, last): ([String], Int?) = ([], nil)
        while case let page = try store.revocations(filter, before: last, limit: 2),
            let next = page.next
        {
            seen += page.revocations.map(\.request.id)
            last = next
        }
        #expect(seen == ["5", "4", "3", "2", "1"])
        let other = RevocationFilter(userID: VaultUser.sample(2).userID)
        let page = try store.revocations(other, before: nil, limit: 2)
        #expect(page.revocations.map(\.request.id) == ["other"])
    }

    @Test(arguments: SQLBackend.available)
    func `work that waits for a profile is due when it exists, and shared after it is given up`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        var waiting = job(1)
        waiting.lastError = .init("client_without_profile", "none")
        _ = try store.add(request("1"), [waiting])
        _ = try store.add(request("2"), [job(2)])
        var claimed = try #require(try due(store, "a").first)
        #expect(claimed.waitsForProfile)
        _ = claimed.fail(.init("client_without_profile", "none"), age: .zero, jitter: 0, at: now)
        #expect(try store.note(claimed, retryAfter: .seconds(3600), by: "a"))
        #expect(try due(store, "b") == [])
        let other = ClientID(unchecked: "com.example.other")
        #expect(try store.resumeRevocations(of: [other]) == [claimed.clientID])
        #expect(try due(store, "b") == [])
        #expect(try store.resumeRevocations(of: [claimed.clientID]) == [])
        var again = try #require(try due(store, "b").first)
        #expect(again.number == claimed.number && again.lastError == nil)
        _ = again.fail(
            .init("client_without_profile", "none"), age: .seconds(2_592_000), jitter: 0, at: now)
        #expect(try store.note(again, retryAfter: nil, by: "b"))
        let repeated = try store.add(request("3"), [waiting])
        #expect(repeated.state == .dead && repeated.jobs.map(\.number) == [again.number])
        // With a profile, it begins anew.
        let anew = try store.add(request("4"), [job(1)])
        #expect(anew.state == .pending && anew.jobs.map(\.number) != [again.number])
        let counts = try store.counts()
        #expect(counts.revocations.filter { $0.value != 0 } == [.pending: 2, .dead: 2])
        #expect(counts.givenUp == 2)
    }

    @Test(arguments: SQLBackend.available)
    func `only the jobs of a request are claimed for it`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        defer { extendLifetime(fixture) }
        let store = try fixture.preparedServerStore()
        _ = try store.add(request("1"), [job(1)])
        _ = try store.add(request("2"), [job(2)])
        let mine = try store.claimRevocations(of: "2", limit: 10, for: .long("a")).jobs
        #expect(mine.map(\.job.fingerprint) == [.sample(2)])
        #expect(mine.allSatisfy { $0.age >= .zero })
    }

    @Test(arguments: SQLBackend.available)
    func `damaged jobs are named, and stop no others`(_ backend: SQLBackend) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        _ = try store.add(request("1"), [job(1)])
        _ = try store.add(request("2"), [job(2)])
        for change in [
            "proof = 'odd'", "kind = 'odd'", "attempts = -1", "created_at = 9223372036854775807",
            "was_active = 2", "http_status = 12", "evidence = 'odd'", "token_fingerprint = ''",
            "key_number = 0", "user_id = ''", "is_unusual = 2", "client_id = 'a b'",
            "ended_at = 999999999999",
        ] {
            let backup = try fixture.run(
                "SELECT \(RevocationJob.columns) FROM revocation_job ORDER BY id")
            try fixture.run(
                "UPDATE revocation_job SET \(change), due_at = 1 WHERE token_fingerprint = $1",
                .text(TokenFingerprint.sample(1).rawValue))
            try fixture.run("UPDATE revocation_job SET due_at = 2 WHERE id = $1", backup[1][0])
            let due = try store.claimRevocations(of: nil, limit: 10, for: .long("a"))
            #expect(due.jobs.map(\.job.fingerprint) == [.sample(2)], "\(change)")
            #expect(due.damaged.first?.message.hasPrefix("job ") == true, "\(change)")
            let page = try store.revocations([], limit: 10)
            #expect(page.revocations.map(\.request.id) == ["2"], "\(change)")
            #expect(page.damaged.count == 1, "\(change)")
            #expect(throws: StoreError.self) { try store.revocation("1") }
            try fixture.run("DELETE FROM revocation_job")
            for row in backup {
                let places = row.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
                _ = try fixture.connect().run(
                    "INSERT INTO revocation_job (\(RevocationJob.columns)) VALUES (\(places))", row)
            }
        }
    }

    @Test(arguments: SQLBackend.available)
    func `work that ended long ago is deleted, and pending jobs are kept`(
        _ backend: SQLBackend
    ) async throws {
        let fixture = try await backend.fixture()
        let store = try fixture.preparedServerStore()
        _ = try store.add(request("1"), [job(1)])
        _ = try store.add(request("2"), [job(1), job(2)])
        var first = try #require(try due(store, "a").first)
        _ = first.end(Revocation(status: 200, wasActive: nil, evidence: nil), at: now)
        #expect(try store.note(first, retryAfter: nil, by: "a"))
        #expect(try store.purge(Retention(), limit: 10) == 0)
        try fixture.run("UPDATE revocation SET ended_at = 1 WHERE ended_at IS NOT NULL")
        #expect(try store.purge(Retention(), limit: 10) == 1)
        #expect(try store.revocation("1") == nil)
        #expect(try store.revocation("2")?.jobs.count == 2)
        #expect(try store.counts().revocations.filter { $0.value != 0 } == [.pending: 1])
    }
}
