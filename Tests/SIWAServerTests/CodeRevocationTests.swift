import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWADatabases
@testable import SIWAServer
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

@Suite struct CodeRevocationTests {
    typealias Backend = ServiceFixture.Backend

    @Test(arguments: Backend.available)
    func `a code is exchanged once, and its token is revoked`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = try await fixture.code()
        let client = try #require(replica.clients[ServiceFixture.app])
        try await fixture.fault(["endpoint": "/auth/revoke", "status": 503])
        let body = try await replica.working { try await replica.ended(.code(code, client)) }
        #expect(body["revoked"] == true && body["kind"] == "refresh_token")
        #expect(try await fixture.requests("/auth/token", grant: "authorization_code") == 1)
        let error = try await Diagnosis.thrown {
            try await replica.exchanged(code).body(isRevealing: true)
        }
        #expect(error.code == "code_already_sent")
    }

    @Test(arguments: Backend.available)
    func `a code that was exchanged before is revoked with its token`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = try await fixture.code()
        _ = try await replica.exchanged(code)
        let client = try #require(replica.clients[ServiceFixture.app])
        let body = try await replica.ended(.code(code, client))
        #expect(body["revoked"] == true)
        #expect(try await fixture.requests("/auth/token", grant: "authorization_code") == 1)
        #expect(try fixture.records().map(\.state) == [.revoked])
    }

    @Test(arguments: Backend.available)
    func `a code whose token is being revoked waits for that revocation`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let code = try await fixture.code()
        let user = try #require(try await replica.exchanged(code).userID)
        let client = try #require(replica.clients[ServiceFixture.app])
        try await fixture.fault(["endpoint": "/auth/revoke", "status": 503])
        func pending(_ target: RevocationInput.Target) async throws -> RevocationStatus {
            let input = RevocationInput(target, proof: .none, maxWait: .zero)
            guard case .pending(let status) = try await replica.revocation.revoke(input) else {
                throw Unexpected(description: "it has ended")
            }
            return status
        }
        let first = try await pending(.user(user, nil))
        await replica.worker.drain()
        let second = try await pending(.code(code, client))
        await replica.worker.drain()
        let store = try fixture.store()
        let jobs = try [first, second].map { try store.revocation($0.request.id)?.jobs }
        #expect(jobs[0]?.count == 1 && jobs[0]?.map(\.number) == jobs[1]?.map(\.number))
        try await replica.working {
            try await eventually("both have ended") {
                try store.revocations([.revoked], limit: 3).revocations.count == 2
            }
        }
        #expect(try await fixture.requests("/auth/revoke") == 2)
        #expect(try await fixture.requests("/auth/token") == 1)
        #expect(!fixture.log.names.contains("database_failed"))
    }

    @Test(arguments: Backend.available)
    func `a lost response and a refused code are unknown, with different answers`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let client = try #require(replica.clients[ServiceFixture.app])
        let code = try await fixture.code()
        try await fixture.fault(["endpoint": "/auth/token", "cut": "no_answer"])
        let lost = try await Diagnosis.thrown { try await replica.ended(.code(code, client)) }
        #expect(lost.code == "code_may_be_spent")
        let used = AuthorizationCode(SecretText("c0123.0.abcd.efgh"))
        let refused = try await Diagnosis.thrown {
            try await replica.ended(.code(used, client))
        }
        #expect(refused.code == "invalid_grant" && refused.exitCode == .grantRefused)
        let states = try fixture.store().revocations([], limit: 10).revocations.map(\.state)
        #expect(states == [.unknown, .unknown])
    }

    @Test func `the token of an exchanged code is kept during a failure of the database`()
        async throws
    {
        let fixture = try await ServiceFixture(.sqlite)
        let holder = Mutable<DatabaseLock?>(nil)
        let replica = try fixture.replica(timeout: .milliseconds(200)) { request, send in
            let response = try await send()
            // Another process locks the database when Apple answers.
            if request.url.hasSuffix("/auth/token"), try await fixture.requests("/auth/token") == 1
            {
                holder.value = try DatabaseLock(fixture.url)
            }
            return response
        }
        let client = try #require(replica.clients[ServiceFixture.app])
        let reply = try await replica.revocation.revoke(
            RevocationInput(.code(try await fixture.code(), client), maxWait: .zero))
        guard case .pending(let status) = reply else {
            Issue.record("not pending: \(reply)")
            return
        }
        try await eventually("the write has failed") {
            fixture.log.names.contains("token_not_noted")
        }
        holder.value = nil
        try await replica.working {
            try await eventually("the token is revoked") {
                let state = try await replica.revocation.status(status.request.id).state
                #expect(state == .pending || state == .revoked)
                return state == .revoked
            }
        }
        await replica.worker.drain()
        #expect(try await fixture.requests("/auth/revoke") == 1)
    }

    @Test(arguments: Backend.available)
    func `a token whose job was lost gets a new job`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let client = try #require(replica.clients[ServiceFixture.app])
        let token = try await replica.exchanged(try await fixture.code(), isStoring: false)
            .refreshToken
        let store = try fixture.store()
        var job = try replica.vault.current.sealedJob("code", .code, of: client.clientID)
        _ = try store.add(
            RevocationRequest(id: "1", clientID: nil, userID: nil, requestedAt: job.createdAt),
            [job])
        let lease = Lease(owner: "other", duration: .seconds(30))
        job = try #require(
            try store.claimRevocations(of: "1", limit: 1, for: lease).jobs.first?.job)
        var lost = job
        lost.loseCode(at: fixture.now.value)
        #expect(try store.note(lost, retryAfter: nil, by: "other"))
        try job.take(try #require(token), of: nil, in: replica.vault.current)
        #expect(await !replica.worker.keepToken(job))
        try await replica.working {
            try await eventually("the token is revoked") {
                try store.revocations([.revoked], limit: 2).revocations.count == 1
            }
        }
        #expect(try store.revocation("1")?.state == .unknown)
        #expect(try await fixture.requests("/auth/revoke") == 1)
    }
}
