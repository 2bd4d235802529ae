import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWADatabases
@testable import SIWAServer
@testable import SIWAServerRecords
@testable import SIWAVaultRecords

/// Tokens that Apple issued and that are not in the vault, or that a job cannot open.
@Suite struct WaitingTokensTests {
    typealias Backend = ServiceFixture.Backend

    /// Signs a user in while the database is locked.
    private func unstored(
        _ fixture: ServiceFixture, _ holder: Mutable<DatabaseLock?>
    ) async throws -> (Replica, UserID) {
        let replica = try fixture.replica(timeout: .milliseconds(300)) { request, send in
            let response = try await send()
            if request.url.hasSuffix("/auth/token"), holder.value == nil,
                try fixture.records().isEmpty
            {
                holder.value = try DatabaseLock(fixture.url)
            }
            return response
        }
        let body = try await replica.exchanged(try await fixture.code()).body(isRevealing: false)
        #expect(body["stored"] == false && body["refresh_token"]?.string != nil)
        return (replica, UserID(unchecked: try #require(body["user_id"]?.string)))
    }

    @Test(arguments: Backend.available)
    func `a token that waits to be stored is part of a revocation`(
        _ backend: Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let holder = Mutable<DatabaseLock?>(nil)
        let (replica, userID) = try await unstored(fixture, holder)
        let error = try await Diagnosis.thrown { try await replica.ended(.user(userID, nil)) }
        #expect(error.apiStatus == .unavailable && error.exitCode == .temporary, "\(error)")
        #expect(error.hints == ["check the database, and send the same request again later"])
        holder.value = nil
        let body = try await replica.ended(.user(userID, nil))
        #expect(body["revoked"] == true && body["confirmed"] == true)
        await replica.exchange.drain()
        #expect(try fixture.records().map(\.state) == [.revoked])
    }

    @Test(arguments: Backend.available, ["", "ré", "a b", "a\u{7F}"])
    func `an invalid token of Apple's is returned and never stored`(
        _ backend: Backend, _ token: String
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica { request, send in
            let response = try await send()
            guard request.url.hasSuffix("/auth/token") else { return response }
            let members = (try JSON(response.body).members ?? []).map { member in
                member.name == "refresh_token"
                    ? JSON.Member("refresh_token", .string(token)) : member
            }
            return HTTPResponse(
                status: 200, fields: response.fields, body: JSON.object(members).bytes)
        }
        let code = try await fixture.code()
        let body = try await replica.exchanged(code).body(isRevealing: false)
        #expect(body["stored"] == false && body["refresh_token"]?.string == token)
        // Nothing waits to be stored.
        await replica.exchange.drain()
        #expect(try fixture.records().isEmpty)
        #expect(fixture.log.names.filter { $0 == "token_not_stored" }.count == 1)
        let again = try await replica.exchanged(code).body(isRevealing: false)
        #expect(again["replayed"] == true && again["stored"] == false)
    }

    /// The token's key was removed from the key file, after the vault was encrypted with a newer one.
    @Test(arguments: Backend.available)
    func `a job whose token cannot be decrypted uses the vault's token`(_ backend: Backend)
        async throws
    {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        let job = try unopenable(fixture, replica, of: userID)
        let status = try fixture.store().add(
            RevocationRequest(
                id: "1", clientID: nil, userID: userID, requestedAt: job.createdAt), [job])
        #expect(status.state == .pending)
        try await replica.working {
            try await eventually("it is revoked") {
                try await replica.revocation.status("1").state == .revoked
            }
        }
        #expect(try fixture.records().map(\.state) == [.revoked])
    }

    @Test(arguments: Backend.available)
    func `a new request repairs the job that it joins`(_ backend: Backend) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        let userID = try await fixture.signedIn(replica)
        // The caller gave the token, so that the job knows no user.
        let job = try unopenable(fixture, replica, of: nil)
        _ = try fixture.store().add(
            RevocationRequest(
                id: "1", clientID: nil, userID: nil, requestedAt: job.createdAt), [job])
        try fixture.run("UPDATE revocation_job SET due_at = due_at + 3600000")
        let body = try await replica.ended(.user(userID, nil))
        #expect(body["revoked"] == true && body["confirmed"] == true)
        #expect(try await replica.revocation.status("1").state == .revoked)
        #expect(try fixture.records().map(\.state) == [.revoked])
        #expect(try await fixture.requests("/auth/revoke") == 1)
    }

    private func unopenable(
        _ fixture: ServiceFixture, _ replica: Replica, of userID: UserID?
    ) throws -> RevocationJob {
        let record = try #require(try fixture.records().first)
        let token = try replica.vault.current.token(of: record)
        var job = try RevocationJob.sealing(
            token.text, .refreshToken, of: record.user.clientID, userID, .beforeAndAfterwards,
            in: replica.vault.current, at: fixture.now.value)
        job.secret = SealedSecret(keyNumber: 9, bytes: try #require(job.secret?.bytes))
        return job
    }
}
