import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWADatabases
@testable import SIWAServer
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// Tokens whose client is in no profile, and tokens that are not in the vault any more.
@Suite struct ClientsWithoutProfileTests {
    typealias Backend = ServiceFixture.Backend

    private func pending(
        _ userID: UserID, at replica: Replica, _ maxWait: Duration = .seconds(60)
    ) async throws -> RevocationStatus {
        let input = RevocationInput(.user(userID, nil), maxWait: maxWait)
        guard case .pending(let status) = try await replica.revocation.revoke(input) else {
            throw Unexpected(description: "it has ended")
        }
        return status
    }

    @Test(arguments: Backend.available)
    func `tokens of a client without a profile are revoked when a profile for it is added`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let all = try fixture.replica("all")
        let limited = try fixture.replica("limited", clients: [ServiceFixture.app])
        let userID = try await fixture.signedIn(all)
        _ = try await fixture.signedIn(all, of: ServiceFixture.web)
        // The revocation does not wait for the client without a profile.
        let status = try await pending(userID, at: limited)
        let waiting = JSON.object(status.resultMembers)
        #expect(waiting["state"] == "pending" && waiting["revoked"] == false)
        #expect(waiting["other_clients"] == ["com.example.web"])
        #expect(waiting["last_error"]?.string?.hasPrefix("client_without_profile: ") == true)
        #expect(Set(try fixture.records().map(\.state)) == [.active, .revoked])
        #expect(
            try await pending(userID, at: limited).jobs.map(\.number) == [status.jobs[1].number])
        try await eventually("the attempt failed") {
            try await limited.revocation.status(status.request.id).attempts == 1
        }
        // The next attempt would be later; a profile that has the client makes it due.
        try fixture.run("UPDATE revocation_job SET due_at = due_at + 3600000")
        let restarted = try fixture.replica("restarted", clients: [ServiceFixture.app])
        try await restarted.working {
            try await eventually("the client without a profile is known") {
                restarted.worker.missingProfiles.current(restarted.clients)
                    == [ServiceFixture.web]
            }
        }
        try await all.working {
            try await eventually("it is revoked") {
                try await all.revocation.status(status.request.id).state == .revoked
            }
        }
        await restarted.worker.reviewMissingProfiles()
        #expect(restarted.worker.missingProfiles.current(restarted.clients) == [])
        let ended = JSON.object(try await all.revocation.status(status.request.id).resultMembers)
        #expect(ended["revoked"] == true && ended["confirmed"] == true)
        #expect(ended["other_clients"] == nil)
        #expect(try fixture.records().allSatisfy { $0.state == .revoked })
    }

    @Test(arguments: Backend.available)
    func `after 30 days without a profile, a revocation's result says so`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let all = try fixture.replica("all")
        let limited = try fixture.replica("limited", clients: [ServiceFixture.app])
        let userID = try await fixture.signedIn(all, of: ServiceFixture.web)
        let first = try await pending(userID, at: limited)
        try await eventually("the attempt failed") {
            try await limited.revocation.status(first.request.id).attempts == 1
        }
        try fixture.run("UPDATE revocation_job SET due_at = 1, created_at = 1")
        try await limited.working {
            try await eventually("it is dead") {
                try await limited.revocation.status(first.request.id).state == .dead
            }
        }
        for _ in 1...2 {
            let body = try await limited.ended(.user(userID, nil))
            #expect(body["revoked"] == false && body["confirmed"] == false)
            #expect(body["other_clients"] == ["com.example.web"], "\(body)")
            let error = body["tokens"]?.elements?.first?["error"]
            #expect(error?["code"] == "client_without_profile")
        }
        // With a profile, the same request begins anew.
        let body = try await all.ended(.user(userID, nil))
        #expect(body["revoked"] == true && body["confirmed"] == true)
        #expect(try fixture.records().map(\.state) == [.revoked])
    }

    @Test(arguments: Backend.available)
    func `a refresh names the client that has no profile`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let limited = try fixture.replica("limited", clients: [ServiceFixture.app])
        let userID = try await fixture.signedIn(fixture.replica(), of: ServiceFixture.web)
        let error = try await Diagnosis.thrown {
            try await limited.refresh.refresh(RefreshInput(.user(userID, nil)))
        }
        #expect(error.code == "not_found")
        #expect(error.hints.contains { $0.contains("com.example.web") }, "\(error)")
    }

    @Test(arguments: Backend.available)
    func `a token that was removed without a revocation is not called revoked`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        let user = VaultUser(ServiceFixture.app, userID)
        _ = try replica.vault.current.keyless.remove(user, at: fixture.now.value)
        let removed = try await replica.ended(.user(userID, nil))
        #expect(removed["revoked"] == false && removed["evidence"] == "removed")
        #expect(removed["tokens"]?.elements?.map { $0["evidence"] } == ["removed"])
        // The client has never had a token: only then is the user unknown.
        let error = try await Diagnosis.thrown {
            try await replica.ended(.user(userID, ServiceFixture.web))
        }
        #expect(error.code == "not_found" && error.message.contains("com.example.web"))

        // What was revoked before it was removed is revoked, with its proof.
        let other = try await fixture.signedIn(replica, user: "bob")
        _ = try await replica.ended(.user(other, nil))
        _ = try replica.vault.current.keyless.remove(
            VaultUser(ServiceFixture.app, other), at: fixture.now.value)
        let revoked = try await replica.ended(.user(other, nil))
        #expect(revoked["revoked"] == true && revoked["evidence"] == nil)
        #expect(
            revoked["tokens"]?.elements?.map { $0["evidence"] }
                == ["refresh_accepted_then_rejected"])
    }
}

/// The history of tokens that no longer need a revocation.
@Suite struct RecordedTokensTests {
    private let user = VaultUser(ServiceFixture.app, UserID(unchecked: "u"))

    private func outcome(_ events: [VaultHistoryEvent]) throws -> JSON {
        let fingerprint = try #require(TokenFingerprint("0123456789ab"))
        let entries = events.enumerated().map { index, event in
            VaultHistoryEntry(
                at: NumericDate(1_800_000_000 + index), event: event, user: user,
                fingerprint: fingerprint,
                details: VaultEventDetails(
                    evidence: event == .revoked ? .acceptedThenRejected : nil),
                actor: VaultActor(command: "test", host: "test"))
        }
        let tokens = RecordedTokens(entries, [])
        #expect(tokens.lastChange == NumericDate(1_800_000_000 + events.count - 1))
        return .object(
            StoredRevocationReport(tokens.outcomes, of: user.userID, at: NumericDate(0)).members)
    }

    @Test(
        arguments: [
            ([.stored, .removed], false, "removed"), ([.stored], false, "removed"),
            ([.stored, .revoking, .removed], false, "removed"),
            ([.stored, .revoking, .revoked, .pruned], true, "refresh_accepted_then_rejected"),
            ([.stored, .revoked, .dead, .removed], true, "refresh_accepted_then_rejected"),
            ([.stored, .dead, .pruned], true, "refresh_rejected"),
            ([.stored, .dead, .active, .removed], false, "removed"),
            ([.stored, .accountDeleted, .removed], true, nil),
            ([.stored, .consentRevoked, .removed], true, nil),
            ([.stored, .revoked, .stored, .removed], false, "removed"),
        ] as [([VaultHistoryEvent], Bool, String?)])
    func `a token is called revoked only if its last known state says so`(
        _ events: [VaultHistoryEvent], _ isRevoked: Bool, _ evidence: String?
    ) throws {
        let body = try outcome(events)
        #expect(body["revoked"] == .boolean(isRevoked), "\(body)")
        #expect(body["tokens"]?.elements?.first?["evidence"]?.string == evidence, "\(body)")
    }

    @Test func `an empty history has no last change`() {
        #expect(RecordedTokens([], []).lastChange == nil)
    }
}
