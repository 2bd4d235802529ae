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

@Suite struct RevocationServiceTests {
    typealias Backend = ServiceFixture.Backend

    @Test(arguments: Backend.available)
    func `all tokens of a user are revoked with proof`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        _ = try await fixture.signedIn(replica)
        _ = try await fixture.signedIn(replica, of: ServiceFixture.web)
        _ = try await fixture.signedIn(replica, user: "bob")
        let body = try await replica.ended(.user(userID, nil))
        #expect(body["revoked"] == true && body["confirmed"] == true)
        #expect(body["was_active"] == true && body["user_id"]?.string == userID.rawValue)
        let tokens = body["tokens"]?.elements ?? []
        #expect(tokens.count == 3)
        #expect(
            tokens.allSatisfy { $0["evidence"] == "refresh_accepted_then_rejected" })
        #expect(
            Set(tokens.map { $0["client_id"] })
                == ["com.example.app", "com.example.web"])
        #expect(try fixture.records().count { $0.state == .revoked } == 3)
        #expect(try fixture.records().count { $0.state == .active } == 1)

        // The second call returns the recorded result and sends nothing.
        let sent = try await fixture.requests("/auth/revoke")
        let recorded = try await replica.ended(.user(userID, nil))
        #expect(recorded["revoked"] == true && recorded["tokens"]?.elements?.count == 3)
        #expect(
            recorded["tokens"]?.elements?.allSatisfy {
                $0["evidence"] == "refresh_accepted_then_rejected"
            } == true)
        #expect(try await fixture.requests("/auth/revoke") == sent && sent == 3)
    }

    @Test(arguments: Backend.available)
    func `the tokens of one client are reported as by siwa revoke`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        _ = try await fixture.signedIn(replica, of: ServiceFixture.web)
        let body = try await replica.ended(.user(userID, ServiceFixture.web))
        #expect(
            body.members?.map(\.name) == [
                "revoked", "confirmed", "kind", "client_id", "user_id", "at", "was_active",
                "tokens",
            ])
        #expect(body["client_id"] == "com.example.web")
        #expect(try fixture.records().count { $0.state == .active } == 1)
    }

    @Test(arguments: Backend.available)
    func `a damaged token is named, and the others are revoked`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        for _ in 1...2 { _ = try await fixture.signedIn(replica) }
        let damaged = try #require(try fixture.records().last)
        let fingerprint = damaged.id.fingerprint.rawValue
        let database = try connector(of: fixture.url, timeout: .eachStatement(.seconds(60)))
            .connect(creating: false)
        var sealed = damaged.sealed
        sealed[sealed.count / 2] ^= 1
        _ = try database.run(
            "UPDATE vault_token SET sealed = $1 WHERE token_fingerprint = $2",
            [.bytes(sealed), .text(fingerprint)])
        for _ in 1...2 {
            let error = try await Diagnosis.thrown { try await replica.ended(.user(userID, nil)) }
            #expect(error.message.contains(fingerprint), "\(error)")
            let states = try fixture.records().map { ($0.id == damaged.id, $0.state) }
            #expect(states.allSatisfy { $0 ? $1 == .active : $1 == .revoked }, "\(states)")
        }
        #expect(try await fixture.requests("/auth/revoke") == 2)
    }

    @Test(arguments: Backend.available)
    func `a user who was never stored is not found`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let error = try await Diagnosis.thrown {
            try await replica.ended(.user(UserID(unchecked: "nobody"), nil))
        }
        #expect(error.code == "not_found")
    }

    @Test(arguments: Backend.available)
    func `a revocation continues after an outage and keeps its first proof`(_ backend: Backend)
        async throws
    {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        try await fixture.fault(["endpoint": "/auth/revoke", "status": 503, "count": 2])
        let status = try await fixture.pendingRevocation(of: userID, replica)
        try await replica.working {
            try await eventually("it is revoked") {
                try await replica.revocation.status(status.request.id).state == .revoked
            }
        }
        let ended = try await replica.revocation.status(status.request.id)
        let body = JSON.object(ended.resultMembers)
        #expect(body["state"] == "revoked" && body["attempts"] == 3)
        #expect(body["revoked"] == true && body["last_error"]?.string?.contains("503") == true)
        #expect(
            body["tokens"]?.elements?.first?["evidence"] == "refresh_accepted_then_rejected")
        #expect(ended.jobs.allSatisfy { $0.secret == nil })
        // One refresh before, and one after.
        #expect(try await fixture.requests("/auth/token", grant: "refresh_token") == 2)
        #expect(try fixture.records().map(\.state) == [.revoked])
    }

    @Test(arguments: Backend.available)
    func `a revocation that waits while its user gets another id ends in the vault`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        try await fixture.fault(["endpoint": "/auth/revoke", "status": 503, "count": 1])
        let status = try await fixture.pendingRevocation(of: userID, replica)
        let ids = ["new", "newest"].map { UserID(unchecked: $0) }
        for (old, new) in zip([userID] + ids, ids) {
            let moved = try await replica.access.run { store throws(StoreError) in
                try replica.vault.with { vault throws(StoreError) in
                    try vault.remap(
                        [VaultRemap(VaultUser(ServiceFixture.app, old), to: new)],
                        at: fixture.now.value)
                }
            }
            #expect(moved.moved == 1)
        }
        try await replica.working {
            try await eventually("it is revoked") {
                try await replica.revocation.status(status.request.id).state == .revoked
            }
        }
        let record = try #require(try fixture.records().first)
        #expect(record.state == .revoked && record.user.userID == ids.last)
        let history = try fixture.store().vault.history(of: userID).entries
        let last = try #require(history.last)
        #expect(last.event == .revoked && last.user.userID == ids.last)
        #expect(last.details.evidence == .acceptedThenRejected)
    }

    @Test(arguments: Backend.available)
    func `a crash after the first refresh loses no proof`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        // This replica sends the refresh, and then hangs.
        let doomed = try fixture.replica("doomed") { request, send in
            guard request.url.hasSuffix("/auth/revoke") else { return try await send() }
            try await Task.sleep(for: .seconds(3600))
            return try await send()
        }
        let input = RevocationInput(.user(userID, nil), maxWait: .zero)
        guard case .pending(let status) = try await doomed.revocation.revoke(input) else {
            Issue.record("it ended")
            return
        }
        try await eventually("the refresh is on record") {
            let job = try await replica.revocation.status(status.request.id).jobs.first
            return job?.progress.wasActive == true
        }
        // Like a start of the server on SQLite; on PostgreSQL, the lease would expire.
        try fixture.store().prepare(isAlone: true)
        try await replica.working {
            try await eventually("it is revoked") {
                try await replica.revocation.status(status.request.id).state == .revoked
            }
        }
        let ended = try await replica.revocation.status(status.request.id)
        #expect(ended.jobs.map(\.progress.evidence) == [.acceptedThenRejected])
        #expect(try await fixture.requests("/auth/token", grant: "refresh_token") == 2)
    }

    @Test(arguments: Backend.available)
    func `several requests share the job of a token`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replicas = [try fixture.replica("one"), try fixture.replica("two")]
        let userID = try await fixture.signedIn(replicas[0])
        try await fixture.fault(["endpoint": "/auth/revoke", "delay": "500ms"])
        let bodies = try await withThrowingTaskGroup(of: JSON.self) { group in
            for number in 0..<4 {
                group.addTask { try await replicas[number % 2].ended(.user(userID, nil)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies.allSatisfy { $0["revoked"] == true })
        #expect(try await fixture.requests("/auth/revoke") == 1)
    }

    @Test(arguments: Backend.available)
    func `a revocation without a profile is dead after 30 days`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let job = try replica.vault.current.sealedJob(
            "token", .refreshToken, of: ClientID(unchecked: "com.example.gone"))
        let store = try fixture.store()
        let status = try store.add(
            RevocationRequest(id: "1", clientID: nil, userID: nil, requestedAt: job.createdAt),
            [job])
        #expect(status.state == .pending)
        try await replica.working {
            try await eventually("it is dead") { try store.revocation("1")?.state == .dead }
        }
        let error = try #require(try store.revocation("1")?.jobs.first?.lastError)
        #expect(
            error.code == "client_without_profile" && error.message.contains("com.example.gone"))
    }

    @Test(arguments: Backend.available)
    func `a revocation is retried and reported if Apple refuses the client`(_ backend: Backend)
        async throws
    {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let client = try #require(replica.clients[ServiceFixture.app])
        let body = try await replica.exchanged(try await fixture.code(), isStoring: false)
            .body(isRevealing: true)
        let token = RefreshToken(SecretText(try #require(body["refresh_token"]?.string)))
        try await fixture.fault(["endpoint": "/auth/token", "error": "invalid_client"])
        let result = try await replica.working {
            try await replica.ended(.token(token, client))
        }
        #expect(result["revoked"] == true)
        #expect(result["evidence"] == "refresh_accepted_then_rejected")
        #expect(fixture.log.names.contains("revocation_failed"))
    }
}

extension ServiceFixture {
    /// Requests a revocation that does not end at once.
    fileprivate func pendingRevocation(
        of userID: UserID, _ replica: Replica
    ) async throws -> RevocationStatus {
        let reply = try await replica.revocation.revoke(
            RevocationInput(.user(userID, nil), maxWait: .milliseconds(1)))
        let status: RevocationStatus? = if case .pending(let status) = reply { status } else { nil }
        try await eventually("the intent is noted") {
            try records().map(\.state) == [.revoking]
        }
        return try #require(status, "\(reply)")
    }
}
